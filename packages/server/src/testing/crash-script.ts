import type { CrashScenario } from "./crash-play.ts";
import type { Script } from "./scripted-model/script.ts";

/**
 * The shortest run with everything that a crash can hit: parallel calls, a failing call, an invalid call, a file edit, an approval, an
 * end. Each command leaves its own line, so that a repetition is visible.
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

/** A provider whose context window is full after two calls: the log is condensed, and the run continues after the summary. */
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
 * Everything at once: two concurrent calls, two more that need approval, a too long request, and after the summary a provider that is
 * down, so that the second model continues.
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

/** The lines in `side.log` when each command runs once. */
export const crashMarks = ["one", "two", "three", "four"] as const;

function append(mark: string, rest = "", risk = "LOW") {
  return {
    name: "terminal",
    arguments: { command: `echo ${mark} >> side.log${rest}`, security_risk: risk },
  };
}
