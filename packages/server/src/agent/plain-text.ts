/**
 * Text without what only a terminal understands: colours, cursor moves, titles and links of it, and control characters. The log keeps
 * them, so that people see the colours; a model would only pay for them.
 */
export function plainText(text: string): string {
  return hasControls.test(text) ? text.replace(sequences, "").replace(controls, "") : text;
}

// A title, link or the like ends at BEL or ESC \; a newline in one means that it was none.
const sequences = new RegExp(
  [
    String.raw`(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?`,
    String.raw`(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0080-\u009f\n]*(?:\u0007|\u001b\\|\u009c)`,
    String.raw`\u001b[ -/]*[0-~]`,
  ].join("|"),
  "gu",
);

// All but tab, line ends, form feed and NEL.
const controlSet = String.raw`\u0000-\u0008\u000b\u000e-\u001f\u007f-\u0084\u0086-\u009f`;
const controls = new RegExp(`[${controlSet}]`, "gu");
const hasControls = new RegExp(`[${controlSet}]`, "u");
