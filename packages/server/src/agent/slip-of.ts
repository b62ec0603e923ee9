/** Whether somebody who typed `given` seems to have meant `known`: one letter is wrong, missing, too many, or two are swapped. */
export function isSlipOf(given: string, known: string): boolean {
  const [a, b] = [given.split(""), known.split("")];
  // A name that only goes on, such as terminal2, is a name of its own.
  if (given === known || given.startsWith(known) || Math.min(a.length, b.length) < 4) return false;
  while (a.length > 0 && a.at(-1) === b.at(-1)) {
    a.pop();
    b.pop();
  }
  const start = a.findIndex((letter, index) => letter !== b[index]);
  const from = start === -1 ? Math.min(a.length, b.length) : start;
  const [left, right] = [a.slice(from), b.slice(from)];
  const isSwapped = left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
  return isSwapped || (left.length <= 1 && right.length <= 1);
}
