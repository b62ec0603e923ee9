/** One measured number, next to what the same machine does at best in the same run where noise matters. */
export type BenchResult = {
  /** The id of the budget or promise, with a suffix where one id has several numbers: `B6.kind.desc`. */
  id: string;
  name: string;
  value: number;
  unit: string;
  baseline?: { name: string; value: number };
  /** `value` divided by the baseline's. */
  ratio?: number;
};
