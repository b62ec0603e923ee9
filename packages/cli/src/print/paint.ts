import { styleText } from "node:util";

type Style = (text: string) => string;

export type Paint = Readonly<Record<"bold" | "dim" | "red" | "green" | "yellow" | "cyan", Style>>;

/** Colours for a stream that shows them; plain text otherwise, and when NO_COLOR is set. */
export function createPaint(stream: NodeJS.WriteStream): Paint {
  const style =
    (name: Parameters<typeof styleText>[0]): Style =>
    (text) =>
      styleText(name, text, { stream, validateStream: true });
  return {
    bold: style("bold"),
    dim: style("dim"),
    red: style("red"),
    green: style("green"),
    yellow: style("yellow"),
    cyan: style("cyan"),
  };
}
