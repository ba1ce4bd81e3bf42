/* The floor: lock a file, append three lines, write an answer, exit. */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count < 2) return 2;
    int journal = open(arguments[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (journal < 0) return 2;
    for (int line = 0; line < 3; line++) {
        const char text[] = "{\"seq\":1,\"type\":\"attempt.started\",\"command\":\"gh\",\"args\":[\"pr\",\"list\"]}\n";
        if (flock(journal, LOCK_EX) != 0) return 2;
        if (write(journal, text, strlen(text)) < 0) return 2;
        flock(journal, LOCK_UN);
        if (line == 1 && write(1, "MERGED\n", 7) < 0) return 2;
    }
    return 0;
}
