import type { CDPSession } from "playwright-core";
import { expect, test } from "vitest";
import { readElements } from "./read-elements.ts";
import { wantedStyles, type Snapshot } from "./snapshot.ts";

type TestNode = {
  readonly parent: number;
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly styles?: Readonly<Partial<Record<(typeof wantedStyles)[number], string>>>;
  readonly bounds?: readonly number[];
};

/** A snapshot of one document, painted in its order. */
function snapshotOf(nodes: readonly TestNode[]): Snapshot {
  const strings: string[] = [];
  const known = new Map<string, number>();
  const add = (text: string): number => {
    const at = known.get(text) ?? strings.push(text) - 1;
    known.set(text, at);
    return at;
  };
  const usual = { visibility: "visible", cursor: "auto", position: "static", "pointer-events": "auto" };
  return {
    strings,
    documents: [
      {
        nodes: {
          parentIndex: nodes.map(({ parent }) => parent),
          nodeType: nodes.map(({ text }) => (text === undefined ? 1 : 3)),
          nodeName: nodes.map(({ name }) => add(name)),
          nodeValue: nodes.map(({ text }) => add(text ?? "")),
          backendNodeId: nodes.map((_node, index) => index),
          attributes: nodes.map(({ attributes = {} }) => Object.entries(attributes).flat().map(add)),
        },
        layout: {
          nodeIndex: nodes.map((_node, index) => index),
          styles: nodes.map(({ styles }) =>
            wantedStyles.map((name) =>
              add({ ...usual, "background-color": "rgba(0, 0, 0, 0)", ...styles }[name]),
            ),
          ),
          bounds: nodes.map(({ bounds = [0, 0, 100, 20] }) => bounds),
          text: nodes.map(({ text }) => add(text ?? "")),
          paintOrders: nodes.map((_node, index) => index),
        },
      },
    ],
  };
}

const read = (nodes: readonly TestNode[]): ReturnType<typeof readElements> =>
  readElements(snapshotOf(nodes), {} as CDPSession, { width: 1_000, height: 700 });

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

test("controls nested twenty thousand deep are read", () => {
  const depth = 20_000;
  const chain = range(depth).map((index): TestNode => ({
    parent: index - 1,
    name: index % 3 === 0 ? "LABEL" : "DIV",
    attributes: index % 3 === 0 ? {} : { tabindex: "0" },
  }));
  const { elements } = read([...chain, { parent: depth - 1, name: "#text", text: "at the bottom" }]);
  expect(elements).toHaveLength(Math.floor((depth * 2) / 3));
  expect(elements.at(-1)).toMatchObject({ text: "at the bottom" });
});

test("of ten thousand covers the largest hide the elements below them", () => {
  const cover = (bounds: readonly number[]): TestNode => ({
    parent: 0,
    name: "DIV",
    styles: { position: "fixed", "background-color": "rgb(255, 255, 255)" },
    bounds,
  });
  const buttons = range(10_000).map((index): TestNode => ({
    parent: 0,
    name: "BUTTON",
    attributes: { title: `button ${index}` },
    bounds: [0, index * 20, 100, 20],
  }));
  const { elements } = read([
    { parent: -1, name: "BODY" },
    ...buttons,
    ...range(10_000).map((index) => cover([500, index * 40, 40, 40])),
    cover([0, 0, 300, 199_960]),
  ]);
  expect(elements.map(({ text }) => text)).toEqual(["button 9998", "button 9999"]);
});

test("a list of twenty thousand options shows the first ones", () => {
  const options = range(20_000).flatMap((index): TestNode[] => [
    { parent: 0, name: "OPTION" },
    { parent: 1 + 2 * index, name: "#text", text: `option ${index}` },
  ]);
  const { elements } = read([{ parent: -1, name: "SELECT" }, ...options]);
  expect(elements[0]!.facts["options"]).toHaveLength(30);
});

test("an element that listens around a control, or inside one, is not listed beside it", () => {
  const { elements } = read([
    { parent: -1, name: "BODY" },
    { parent: 0, name: "DIV", styles: { cursor: "pointer" } },
    { parent: 1, name: "A", attributes: { href: "/" }, styles: { cursor: "pointer" } },
    { parent: 2, name: "SPAN", styles: { cursor: "pointer" } },
    { parent: 3, name: "#text", text: "Home" },
    { parent: 0, name: "DIV", styles: { cursor: "pointer" } },
    { parent: 5, name: "#text", text: "Alone" },
  ]);
  expect(elements.map(({ tag, text }) => [tag, text])).toEqual([
    ["a", "Home"],
    ["div", "Alone"],
  ]);
});
