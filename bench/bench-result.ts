/** One measured number, with a baseline measured in the same run where machine noise matters. */
export type BenchResult = {
  /** The id of the budget or promise, with a suffix if one id has several numbers: `B6.kind.desc`. */
  id: string;
  name: string;
  value: number;
  unit: string;
  baseline?: { name: string; value: number };
  /** `value` divided by the baseline's. */
  ratio?: number;
};
