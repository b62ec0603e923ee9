/**
 * What a text of promises promises, a line each, so that two releases can be compared: fields of the wire with their place and type
 * (`.json`), the lines of each export (`.api.md`), or the lines as they are.
 */
function promisedLines(file: string, text: string): readonly string[] {
  if (file.endsWith(".json")) return fieldsOf(JSON.parse(text), "");
  if (file.endsWith(".api.md")) return linesOfExports(text);
  return text.split("\n").filter((line) => line !== "");
}

/** Lines of the older text that the newer one does not have, as often. */
export function brokenPromises(file: string, older: string, newer: string): readonly string[] {
  const left = new Map<string, number>();
  for (const line of promisedLines(file, newer)) left.set(line, (left.get(line) ?? 0) + 1);
  return promisedLines(file, older).filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}

/** Whether a release may break promises of another one: a major may, and before 1.0 a minor. */
export function mayBreak(from: string, to: string): boolean {
  const [major, minor] = numbersOf(from);
  const [newMajor, newMinor] = numbersOf(to);
  return newMajor > major || (major === 0 && newMajor === 0 && newMinor > minor);
}

function numbersOf(version: string): readonly [number, number] {
  const [, major, minor] = /^(\d+)\.(\d+)\.\d+/.exec(version) ?? [];
  if (major === undefined || minor === undefined) throw new Error(`"${version}" is no version like 1.2.3`);
  return [Number(major), Number(minor)];
}

/** An added type of a field (`string | null`) is a line of its own: clients may rely on the narrower one. */
function fieldsOf(value: unknown, place: string): readonly string[] {
  if (Array.isArray(value)) return [place, ...value.flatMap((item) => fieldsOf(item, `${place}[]`))];
  if (typeof value !== "object" || value === null) return [`${place}: ${String(value)}`];
  const fields = Object.entries(value).flatMap(([name, field]) =>
    fieldsOf(field, place === "" ? name : `${place}.${name}`),
  );
  return place === "" ? fields : [place, ...fields];
}

/** Each line behind the name of its export, without comments and imports. */
function linesOfExports(text: string): readonly string[] {
  let name = "";
  return text.split("\n").flatMap((line) => {
    name = /^export (?:declare )?(?:abstract )?\w+ (\w+)/.exec(line)?.[1] ?? name;
    const isPromise = name !== "" && !/^\s*(?:\/\/|\/\*|\*|```|\(No @package)|^\s*$/.test(line);
    return isPromise ? [`${name}: ${line.trim()}`] : [];
  });
}
