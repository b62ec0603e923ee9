/** Numbers of the design that are no shell command; the test of each shows both sides. `file` is below the sources of the package. */
export type OtherTest = {
  readonly number: number;
  readonly name: string;
  readonly file: string;
  readonly title: string;
};

const wall = "server/src/walls/escapes.int.test.ts";
const left = "server/src/walls/left-behind.test.ts";
const way = "server/src/egress/way-out-escapes.test.ts";

export const otherTests: readonly OtherTest[] = [
  {
    number: 17,
    name: "a working folder that is a link",
    file: wall,
    title: "17: a working folder that is a link to the data folder is refused",
  },
  {
    number: 18,
    name: "a working folder that is swapped for a link while the wall starts",
    file: wall,
    title: "18: a working folder that is swapped for a link while a wall starts shows nothing else",
  },
  {
    number: 33,
    name: "a new repository with a hook (told)",
    file: left,
    title: "files that editors, shells and git obey are told when they are new or have changed",
  },
  {
    number: 34,
    name: "a rebase with commands (told)",
    file: left,
    title: "what the wall keeps read-only is not told, but a rebase with commands is",
  },
  {
    number: 35,
    name: "a program of git's configuration, by the route for changes",
    file: "tool-host/src/workspace/git-hostile.int.test.ts",
    title: "a repository's configuration starts no program and its lock is not taken",
  },
  ...[
    [53, "a name that leads to a private address"],
    [54, "a name that leads elsewhere after it was checked"],
    [55, "data in a name that is looked up"],
    [56, "a forged Host"],
    [57, "a credential to another host"],
    [58, "a token of one's own to a host of the preset"],
    [60, "a host that repeats the credential"],
  ].map(([number, name]) => ({
    number: Number(number),
    name: String(name),
    file: way,
    title: `${number}: ${name}`,
  })),
];
