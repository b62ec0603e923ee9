/** Below this many letters two names that differ in one letter are different names. */
const shortestName = 4;
/** From this many letters on, two typos still leave no doubt about what was meant. */
const longName = 10;

/** The known name that `given` probably stands for: another case, `camelCase`, a plural, or a typo. */
export function nearMiss(given: string, known: Iterable<string>): string | null {
  const wanted = plain(given);
  let best: string | null = null;
  let least = Infinity;
  for (const name of known) {
    const other = plain(name);
    const max = Math.min(wanted.length, other.length) >= longName ? 2 : 1;
    const isShort = Math.min(wanted.length, other.length) < shortestName;
    if (isShort ? wanted !== other : isAnother(wanted, other)) continue;
    const distance = editDistance(wanted, other, max);
    if (distance > max || distance >= least) continue;
    best = name;
    least = distance;
  }
  return best;
}

/** Number of wrong, missing, additional or swapped letters; a result above `max` only means more than `max`. */
export function editDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1;
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      let cost = Math.min(
        above[column]! + 1,
        current[column - 1]! + 1,
        above[column - 1]! + (isSame ? 0 : 1),
      );
      const isSwapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwapped) cost = Math.min(cost, before[column - 2]! + 1);
      current.push(cost);
    }
    before = above;
    above = current;
  }
  return above[b.length]!;
}

/** A name followed by a number, such as `model2`, is a different name. */
function isAnother(given: string, known: string): boolean {
  return given.startsWith(known) && /^\d+$/.test(given.slice(known.length));
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_\-\s]/g, "");
}
