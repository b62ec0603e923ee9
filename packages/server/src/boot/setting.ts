import { ConfigError } from "../lib/config-error.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The form of a value in configuration files and in the JSON schema. Variables hold it as text; a list has commas between. */
export type SettingType =
  | { readonly kind: "text" | "path" | "list" | "json" | "switch" }
  | {
      readonly kind: "number";
      readonly isWhole: boolean;
      readonly least: number;
      readonly max: number | null;
    }
  | { readonly kind: "choice"; readonly choices: readonly string[] };

/** One thing that can be configured. Its key in configuration files is its name in the table of settings. */
export type Setting<Value> = {
  /** The variable of the environment. */
  readonly variable: string;
  /** Further names of the variable; the first one that is set counts. */
  readonly aliases: readonly string[];
  /** True: the last alias also has the forms `NAME_0`, `NAME_1_FIELD` and so on. */
  readonly isNumbered: boolean;
  /** The flag of `convoke serve` or `convoke run` that says the same. */
  readonly flag: string | null;
  /** Secrets may come from files (`NAME_FILE`), and are never shown. */
  readonly isSecret: boolean;
  /** One phrase in Markdown, with links relative to docs/guides. */
  readonly doc: string;
  readonly type: SettingType;
  /** What counts when nothing is set, in words. */
  readonly shownDefault: string;
  readonly fallback: Value;
  /** Throws {@link ConfigError} with `name` in its sentence. */
  readonly parse: (text: string, name: string) => Value;
};

/** A setting that the table which it is in gives its name. */
type Unnamed<Value> = (key: string) => Setting<Value>;

type Row<Fallback> = {
  /** Unless it is the key in upper case behind `CONVOKE_`. */
  readonly variable?: string;
  readonly doc: string;
  readonly aliases?: readonly string[];
  readonly isNumbered?: true;
  readonly flag?: string;
  readonly isSecret?: true;
  readonly fallback?: Fallback;
  /** Unless the fallback says it. */
  readonly shownDefault?: string;
};

/** Settings by their keys. */
export function named<const Table extends Readonly<Record<string, Unnamed<unknown>>>>(table: Table) {
  const settings = Object.entries(table).map(([key, setting]) => [key, setting(key)]);
  return Object.fromEntries(settings) as { readonly [Key in keyof Table]: ReturnType<Table[Key]> };
}

/** The value of the first of the setting's variables that is set and not empty, else its fallback. */
export function read<Value>(environment: Environment, setting: Setting<Value>): Value {
  const name = [setting.variable, ...setting.aliases].find((one) => environment[one]);
  return name === undefined ? setting.fallback : setting.parse(environment[name]!, name);
}

function plain(kind: "text" | "path") {
  return <const Fallback extends string | null = null>(row: Row<Fallback>): Unnamed<string | Fallback> =>
    complete(row, { kind }, (given) => given);
}

export const text = plain("text");
export const path = plain("path");

/** Its reader knows the form of the value. */
export function json(row: Row<null>): Unnamed<string | null> {
  return complete(row, { kind: "json" }, (given) => given);
}

export function list(row: Row<readonly string[]>): Unnamed<readonly string[]> {
  const fallback = row.fallback ?? [];
  return complete({ ...row, fallback }, { kind: "list" }, (given) =>
    given.split(",").flatMap((item) => (item.trim() === "" ? [] : [item.trim()])),
  );
}

export function choice<const Choice extends string>(
  row: Row<Choice> & { readonly choices: readonly Choice[]; readonly fallback: Choice },
): Unnamed<Choice> {
  return complete(row, { kind: "choice", choices: row.choices }, (given, name) => {
    const known = row.choices.find((one) => one === given);
    if (known !== undefined) return known;
    throw new ConfigError(`${name} must be ${wordsOf(row.choices)}, not "${given}".`);
  });
}

export function onOrOff(row: Row<boolean>): Unnamed<boolean> {
  const fallback = row.fallback ?? false;
  return complete({ ...row, fallback }, { kind: "switch" }, (given, name) => {
    if (/^(true|1)$/i.test(given)) return true;
    if (/^(false|0)$/i.test(given)) return false;
    throw new ConfigError(`${name} must be true or false, not "${given}".`);
  });
}

type NumberRow<Fallback> = Row<Fallback> & { readonly least: number; readonly max?: number };

function amount(isWhole: boolean) {
  return <const Fallback extends number | null = null>(
    row: NumberRow<Fallback>,
  ): Unnamed<number | Fallback> => {
    const { least, max = null } = row;
    const range = max === null ? `from ${least} up` : `from ${least} to ${max}`;
    return complete(row, { kind: "number", isWhole, least, max }, (given, name) => {
      const value = given.trim() === "" ? Number.NaN : Number(given);
      const isIn = Number.isFinite(value) && value >= least && (max === null || value <= max);
      if (isIn && (!isWhole || Number.isInteger(value))) return value;
      throw new ConfigError(`${name} must be a ${isWhole ? "whole " : ""}number ${range}, not "${given}".`);
    });
  };
}

export const whole = amount(true);
/** May be a fraction. */
export const decimal = amount(false);

function complete<Value, Fallback>(
  row: Row<Fallback>,
  type: SettingType,
  parse: (text: string, name: string) => Value,
): Unnamed<Value | Fallback> {
  const fallback = row.fallback ?? (null as Fallback);
  return (key) => ({
    variable: row.variable ?? `CONVOKE_${key.toUpperCase()}`,
    aliases: row.aliases ?? [],
    isNumbered: row.isNumbered ?? false,
    flag: row.flag ?? null,
    isSecret: row.isSecret ?? false,
    doc: row.doc,
    type,
    shownDefault: row.shownDefault ?? shown(fallback),
    fallback,
    parse,
  });
}

function shown(fallback: unknown): string {
  if (fallback === null || (Array.isArray(fallback) && fallback.length === 0)) return "none";
  return `\`${textOf(fallback)}\``;
}

/** A value in the form of its variable. */
export function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "string" ? value : JSON.stringify(value);
}

function wordsOf(choices: readonly string[]): string {
  return `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}
