/** The script's side of `wf`, in the interpreter's own language. */
export const workflowApi = `globalThis.wf = (() => {
  const run = __run;
  delete globalThis.__run;
  const longestInput = 12000;
  const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value) ?? "");
  const optionsOf = (given) => (typeof given === "string" ? { subagent_type: given } : (given ?? {}));
  const messageOf = (error) => (error instanceof Error ? error.message : String(error));

  async function run_agent(prompt, given, description) {
    if (typeof prompt !== "string" || prompt.trim() === "") throw new Error("run_agent: give the agent a prompt.");
    const options = optionsOf(given);
    return await run(prompt, options.subagent_type ?? "general-purpose", options.description ?? description ?? "");
  }

  const promptFor = (prompt, item, index) =>
    typeof prompt === "function" ? prompt(item, index) : String(prompt).replaceAll("{item}", () => asText(item));

  async function atOnce(items, limit, work) {
    const results = new Array(items.length);
    let next = 0;
    const worker = async () => {
      while (next < items.length) {
        const index = next++;
        results[index] = await work(items[index], index);
      }
    };
    await Promise.all(Array.from({ length: Math.min(items.length, limit) }, worker));
    return results;
  }

  async function map_agents(items, prompt, given) {
    const list = Array.from(items);
    const options = optionsOf(given);
    const problems = [];
    const limit = Math.max(1, Math.floor(options.max_concurrency ?? list.length) || 1);
    const results = await atOnce(list, limit, async (item, index) => {
      try {
        return await run_agent(await promptFor(prompt, item, index), options);
      } catch (error) {
        problems.push([index, messageOf(error)]);
      }
    });
    if (problems.length === 0) return results;
    const lines = problems.sort(([a], [b]) => a - b).map(([index, text]) => "Item " + (index + 1) + ": " + text);
    throw new Error(problems.length + " of " + list.length + " items failed.\\n" + lines.join("\\n"));
  }

  async function pipeline(items, ...stages) {
    return await Promise.all(
      Array.from(items, async (item, index) => {
        let value = item;
        try {
          for (const stage of stages)
            value = typeof stage === "function" ? await stage(value, item, index) : await run_agent(promptFor(stage, value, index));
        } catch {
          return null;
        }
        return value;
      }),
    );
  }

  async function reduce_agent(items, prompt, given) {
    const all = Array.from(items);
    let kept = all.length;
    while (kept > 0 && JSON.stringify(all.slice(0, kept)).length > longestInput) kept--;
    const left = all.length - kept;
    const note = left === 0 ? "" : "\\n(" + left + " more items are left out, because they are too long.)";
    return await run_agent(String(prompt) + "\\n\\n" + JSON.stringify(all.slice(0, kept)) + note, given);
  }

  const flatten = (items) => Array.from(items).flat(1);
  return Object.freeze({ run_agent, map_agents, pipeline, reduce_agent, flatten });
})();
`;
