/** One check of the machine. `missing` keeps Convoke from working, `optional` only a part of it. */
export type Finding = {
  readonly name: string;
  readonly state: "ok" | "optional" | "missing";
  readonly detail: string;
  readonly fix: string | null;
};
