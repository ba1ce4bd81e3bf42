// The scenario of run.py with a connected TypeScript client; `call` is how it calls a tool.
export async function play(client, call) {
  const say = async (name, args = {}, timeout = 10000) => {
    const result = await call({ name, arguments: args }, { timeout });
    return [result.isError === true, result.content[0].text];
  };
  const seen = { tools: (await client.listTools()).tools.map((tool) => tool.name) };
  seen.flaky = [await say("flaky"), await say("flaky"), await say("flaky")];
  seen.strict = await say("strict", { a: 2 });
  seen.slow = await say("slow", {}, 400).catch((error) => {
    if (/timed? ?out/i.test(`${error.code} ${error.message}`)) return "timed out";
    throw error;
  });
  seen.retry = await say("slow");
  await client.close();
  console.log(JSON.stringify(seen));
}
