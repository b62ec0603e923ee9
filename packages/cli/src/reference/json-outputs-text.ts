import { jsonOutputs, type JsonOutput } from "../json-outputs.ts";

const forms: Readonly<Record<JsonOutput["form"], string>> = {
  lines: "an object a line",
  value: "one value",
};

/** The table of docs/guides/cli.md that says what each command prints with `--json`. */
export function jsonOutputsText(): string {
  const rows = Map.groupBy(
    Object.entries(jsonOutputs),
    ([, { shapes, form }]) => `${shapes.map((shape) => `\`${shape}\``).join(" or ")} | ${forms[form]}`,
  );
  return [
    "| Commands | Shape | Printed as |",
    "| --- | --- | --- |",
    ...[...rows].map(
      ([row, outputs]) => `| ${outputs.map(([command]) => `\`${command}\``).join(", ")} | ${row} |`,
    ),
  ].join("\n");
}
