import type { Script } from "./scripted-model/script.ts";

/**
 * The shortest work that has everything a crash can hit: parallel calls, a call that fails, one that never could run, a file
 * edit, an approval, an end. Each command leaves one line of its own, so that running twice shows.
 */
export const crashScript: Script = {
  turns: [
    { tool_calls: [append("one"), append("two")] },
    {
      tool_calls: [
        append("three", "; false"),
        { name: "no_such_tool", arguments: {} },
        {
          name: "file_editor",
          arguments: {
            command: "create",
            path: "{{workspace}}/made.txt",
            file_text: "made\n",
            security_risk: "LOW",
          },
        },
      ],
    },
    { tool_calls: [append("four", "", "HIGH")] },
    { tool_calls: [{ name: "finish", arguments: { message: "Everything is done." } }] },
  ],
};

/** The lines that the commands leave in `side.log` when each runs once. */
export const crashMarks = ["one", "two", "three", "four"] as const;

function append(mark: string, rest = "", risk = "LOW") {
  return {
    name: "terminal",
    arguments: { command: `echo ${mark} >> side.log${rest}`, security_risk: risk },
  };
}
