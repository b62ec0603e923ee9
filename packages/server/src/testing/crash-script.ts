import type { CrashScenario } from "./crash-play.ts";
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

const behindNotes = { match: { last_user_contains: "<conversation_notes>" } };
const toFile = (name: string, risk = "LOW") => ({
  name: "file_editor",
  arguments: {
    command: "create",
    path: `{{workspace}}/${name}`,
    file_text: "made\n",
    security_risk: risk,
  },
});

/**
 * Everything at once: two calls side by side, two more that must be approved, a request that is too long, and behind the notes
 * a provider that is down, so that the second model goes on.
 */
export const eventfulScripts = {
  script: {
    unique_ids: true,
    turns: [
      { match: { last_user_contains: "Write the notes now" }, text: "One and two are done." },
      { ...behindNotes, error: { status: 503 } },
      { ...behindNotes, error: { status: 503 } },
      { tool_calls: [append("one"), toFile("first.txt")] },
      { tool_calls: [append("two", "", "HIGH"), toFile("second.txt", "HIGH")] },
      { overflow: true },
    ],
  },
  fallback: {
    unique_ids: true,
    turns: [
      { ...behindNotes, tool_calls: [append("three"), toFile("third.txt")] },
      { ...behindNotes, tool_calls: [{ name: "finish", arguments: { message: "Everything is done." } }] },
    ],
  },
  restartsAtApproval: true,
} as const satisfies CrashScenario;

/** The lines that the commands leave in `side.log` when each runs once. */
export const crashMarks = ["one", "two", "three", "four"] as const;

function append(mark: string, rest = "", risk = "LOW") {
  return {
    name: "terminal",
    arguments: { command: `echo ${mark} >> side.log${rest}`, security_risk: risk },
  };
}
