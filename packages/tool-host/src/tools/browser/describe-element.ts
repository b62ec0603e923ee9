import type { DocumentView } from "./snapshot.ts";
import type { ShownElement } from "./usable-elements.ts";

/** Description of an element for the model. */
export type ElementDescription = {
  readonly backendNodeId: number;
  readonly tag: string;
  readonly text: string;
  readonly facts: Readonly<Record<string, string | boolean | readonly string[]>>;
};

const maxText = 100;
const maxHref = 300;
const maxOptions = 30;
/** Pages can nest any number of nodes in each element, so the number of visited nodes is limited. */
const maxNodesOfText = 500;
const maxNodesOfList = 5_000;

/** Describes the elements of one document. */
export class ElementDescriber {
  readonly #document: DocumentView;
  #labels: { readonly byId: ReadonlyMap<string, number>; readonly around: Int32Array } | undefined;

  constructor(document: DocumentView) {
    this.#document = document;
  }

  describe({ index, tag, attributes }: ShownElement): ElementDescription {
    const document = this.#document;
    const facts: Record<string, string | boolean | readonly string[]> = {};
    const type = attributes.get("type");
    const role = attributes.get("role");
    if (role !== undefined && role !== tag) facts["role"] = role;
    if (tag === "input" && type !== undefined && type !== "text") facts["type"] = type;
    const placeholder = attributes.get("placeholder");
    if (placeholder !== undefined) facts["placeholder"] = placeholder;
    const href = attributes.get("href");
    if (href !== undefined) facts["href"] = clip(href, maxHref);
    if (["input", "textarea"].includes(tag)) {
      const value = document.rare("inputValue", index) ?? document.rare("textValue", index);
      const text = value === undefined ? (attributes.get("value") ?? "") : document.string(value);
      if (text !== "" && !["checkbox", "radio", "file", "submit", "button"].includes(type ?? ""))
        facts["value"] = type === "password" ? "•".repeat(8) : clip(text, maxText);
    }
    if (tag === "input" && ["checkbox", "radio"].includes(type ?? ""))
      facts["checked"] = document.rare("inputChecked", index) !== undefined;
    for (const name of ["aria-checked", "aria-expanded", "aria-selected", "aria-pressed"]) {
      const state = attributes.get(name);
      if (state !== undefined) facts[name.slice("aria-".length)] = state;
    }
    if (attributes.has("disabled") || attributes.get("aria-disabled") === "true") facts["disabled"] = true;
    if (tag === "select") {
      const options = this.#optionsOf(index);
      facts["options"] = options.slice(0, maxOptions).map(({ text }) => text);
      const chosen = options.filter(({ isSelected }) => isSelected).slice(0, maxOptions);
      if (chosen.length > 0) facts["value"] = chosen.map(({ text }) => text).join(", ");
    }
    return {
      backendNodeId: document.nodes.backendNodeId[index]!,
      tag,
      text: this.#nameOf(index, tag, attributes),
      facts,
    };
  }

  #nameOf(index: number, tag: string, attributes: ReadonlyMap<string, string>): string {
    const own = attributes.get("aria-label")?.trim() || (tag === "select" ? "" : this.#textIn(index));
    const buttonValue = ["submit", "button", "reset"].includes(attributes.get("type") ?? "")
      ? attributes.get("value")
      : "";
    const other =
      buttonValue || attributes.get("alt") || attributes.get("title") || this.#labelOf(index, attributes);
    return clip(own || other || attributes.get("name")?.trim() || "", maxText);
  }

  /** The text of a label for this control: one around it, or one that refers to it. */
  #labelOf(index: number, attributes: ReadonlyMap<string, string>): string {
    this.#labels ??= findLabels(this.#document);
    const around = this.#labels.around[index] ?? -1;
    const label = around === -1 ? this.#labels.byId.get(attributes.get("id") ?? "") : around;
    return label === undefined ? "" : this.#textIn(label);
  }

  #optionsOf(list: number): { readonly text: string; readonly isSelected: boolean }[] {
    const document = this.#document;
    const options: { readonly text: string; readonly isSelected: boolean }[] = [];
    const end = Math.min(document.lastInside(list), list + maxNodesOfList);
    for (let index = list + 1; index <= end; index++) {
      if (document.nameOf(index) !== "OPTION") continue;
      const isSelected = document.rare("optionSelected", index) !== undefined;
      options.push({ text: clip(this.#textIn(index), maxText), isSelected });
      index = document.lastInside(index);
    }
    return options;
  }

  /** The text of an element, on one line. */
  #textIn(index: number): string {
    const document = this.#document;
    let text = "";
    let nodesLeft = maxNodesOfText;
    const end = document.lastInside(index);
    for (let at = index; at <= end && nodesLeft > 0 && text.length < 4 * maxText; at++, nodesLeft--) {
      const name = document.nameOf(at);
      if (document.isHidden(at) || unread.has(name)) at = document.lastInside(at);
      else if (name === "IMG") text += ` ${document.attributesOf(at).get("alt") ?? ""} `;
      else if (document.nodes.nodeType[at] === 3) text += `${document.string(document.nodes.nodeValue[at])} `;
    }
    return text
      .slice(0, 40 * maxText)
      .replaceAll(/\s+/g, " ")
      .trim();
  }
}

const unread = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE"]);

function findLabels(document: DocumentView): {
  readonly byId: ReadonlyMap<string, number>;
  readonly around: Int32Array;
} {
  const byId = new Map<string, number>();
  const around = new Int32Array(document.count).fill(-1);
  for (let index = 0; index < document.count; index++) {
    const parent = document.parentOf(index);
    if (parent >= 0) around[index] = document.nameOf(parent) === "LABEL" ? parent : around[parent]!;
    if (document.nameOf(index) !== "LABEL") continue;
    const target = document.attributesOf(index).get("for");
    if (target !== undefined && target !== "") byId.set(target, index);
  }
  return { byId, around };
}

function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}
