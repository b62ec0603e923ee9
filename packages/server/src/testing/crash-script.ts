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

/** A provider whose window is full after two calls: the log is condensed, and the work goes on behind the notes. */
export const condensingCrashScript: Script = {
  unique_ids: true,
  turns: [
    { match: { last_user_contains: "Write the notes now" }, text: "One and two are done." },
    { match: { last_user_contains: "<conversation_notes>" }, tool_calls: [append("three")] },
    {
      match: { last_user_contains: "<conversation_notes>" },
      tool_calls: [{ name: "finish", arguments: { message: "Everything is done." } }],
    },
    { tool_calls: [append("one")] },
    { tool_calls: [append("two")] },
    { overflow: true },
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
