// Evaluates the arguments as expressions over the evidence on standard input.
const fs = require("fs");
const evidence = JSON.parse(fs.readFileSync(0, "utf8"));
const names = Object.keys(evidence);
const exit = process.exit.bind(process);
const said = process.stderr;
console.log = console.info = (...words) => void said.write(words.join(" ") + "\n"); // no result
const results = process.argv.slice(1).map((text) => {
  let evaluate;
  try {
    evaluate = new Function(...names, `"use strict"; return (${text}\n)`);
  } catch (error) {
    return { passed: false, error: String(error) };
  }
  try {
    const value = evaluate(...names.map((name) => evidence[name]));
    return { passed: Boolean(value), saw: String(JSON.stringify(value)).slice(0, 500) };
  } catch (error) {
    return { passed: false, saw: String(error).slice(0, 500) };
  }
});
fs.writeSync(1, JSON.stringify(results));
exit(0);
