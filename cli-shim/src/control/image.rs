//! Whether a program is the static build, which starts sooner.

use std::path::Path;

/// The program header that names a dynamic loader (elf.h).
const PT_INTERP: u32 = 3;

/// Whether the program asks for a dynamic loader; none if it is no 64-bit ELF file.
pub(super) fn is_dynamic(program: &Path) -> Option<bool> {
    let bytes = std::fs::read(program).ok()?;
    let is_elf64 = bytes.get(..5)? == b"\x7fELF\x02";
    let at = usize::try_from(u64::from_ne_bytes(field(&bytes, 32)?)).ok()?;
    let size = usize::from(u16::from_ne_bytes(field(&bytes, 54)?));
    let count = usize::from(u16::from_ne_bytes(field(&bytes, 56)?));
    let mut kinds = (0..count).map(|header| field(&bytes, at + header * size));
    is_elf64.then(|| kinds.any(|kind| kind.map(u32::from_ne_bytes) == Some(PT_INTERP)))
}

fn field<const BYTES: usize>(bytes: &[u8], at: usize) -> Option<[u8; BYTES]> {
    bytes.get(at..at.checked_add(BYTES)?)?.try_into().ok()
}
