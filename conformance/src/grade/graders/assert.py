# Evaluates the arguments as expressions over the evidence on standard input.
import json, os, sys

evidence = json.load(sys.stdin)
results = []
out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what an expression prints is no result
for text in sys.argv[1:]:
    try:
        code = compile(text.strip(), "assert", "eval")
    except (SyntaxError, ValueError) as error:
        results.append({"passed": False, "error": str(error)})
        continue
    try:
        value = eval(code, dict(evidence))
        results.append({"passed": bool(value), "saw": repr(value)[:500]})
    except BaseException as error:
        results.append({"passed": False, "saw": f"{type(error).__name__}: {error}"[:500]})
out.write(json.dumps(results))
out.flush()
os._exit(0)
