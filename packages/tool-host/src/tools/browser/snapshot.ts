type Rare = { readonly index: readonly number[]; readonly value?: readonly number[] };

/** The fields of `DOMSnapshot.captureSnapshot` that are read. Nodes are in document order. */
export type SnapshotDocument = {
  readonly frameId?: number;
  readonly scrollOffsetX?: number;
  readonly scrollOffsetY?: number;
  readonly nodes: {
    readonly parentIndex: readonly number[];
    readonly nodeType: readonly number[];
    readonly nodeName: readonly number[];
    readonly nodeValue: readonly number[];
    readonly backendNodeId: readonly number[];
    readonly attributes: readonly (readonly number[])[];
    readonly shadowRootType?: Rare;
    readonly contentDocumentIndex?: Rare;
    readonly inputValue?: Rare;
    readonly textValue?: Rare;
    readonly inputChecked?: Rare;
    readonly optionSelected?: Rare;
    readonly isClickable?: Rare;
  };
  readonly layout: {
    readonly nodeIndex: readonly number[];
    readonly styles: readonly (readonly number[])[];
    readonly bounds: readonly (readonly number[])[];
    readonly text: readonly number[];
    readonly paintOrders?: readonly number[];
  };
};

export type Snapshot = {
  readonly documents: readonly SnapshotDocument[];
  readonly strings: readonly string[];
};

export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

/** The requested computed styles, in this order. */
export const wantedStyles = [
  "visibility",
  "cursor",
  "position",
  "background-color",
  "pointer-events",
] as const;

export type Styles = Readonly<Record<(typeof wantedStyles)[number], string>>;

const plainStyles: Styles = {
  visibility: "visible",
  cursor: "auto",
  position: "static",
  "background-color": "rgba(0, 0, 0, 0)",
  "pointer-events": "auto",
};

/**
 * One document of a snapshot, addressed by node indexes. Pages decide how deep and wide their documents are, so values that depend on
 * other nodes are computed once, in document order.
 */
export class DocumentView {
  readonly nodes: SnapshotDocument["nodes"];
  readonly layout: SnapshotDocument["layout"];
  readonly #strings: readonly string[];
  readonly #layout = new Map<number, number>();
  /** By node: the last node inside it, or itself. */
  readonly #last: Int32Array;
  readonly #hidden: Uint8Array;
  readonly #rare = new Map<Rare, ReadonlyMap<number, number>>();

  constructor(document: SnapshotDocument, strings: readonly string[]) {
    this.nodes = document.nodes;
    this.layout = document.layout;
    this.#strings = strings;
    document.layout.nodeIndex.forEach((node, index) => {
      if (!this.#layout.has(node)) this.#layout.set(node, index);
    });
    const { length } = document.nodes.parentIndex;
    this.#last = Int32Array.from({ length }, (_, index) => index);
    for (let index = length - 1; index > 0; index--) {
      const parent = this.parentOf(index);
      if (parent >= 0) this.#last[parent] = Math.max(this.#last[parent]!, this.#last[index]!);
    }
    this.#hidden = new Uint8Array(length);
    const inner = this.#rareOf(document.nodes.shadowRootType);
    for (let index = 0; index < length; index++) {
      const isInner = this.string(inner.get(index)) === "user-agent";
      this.#hidden[index] = isInner || this.isHidden(this.parentOf(index)) ? 1 : 0;
    }
  }

  get count(): number {
    return this.nodes.parentIndex.length;
  }

  parentOf(index: number): number {
    return this.nodes.parentIndex[index] ?? -1;
  }

  lastInside(index: number): number {
    return this.#last[index] ?? index;
  }

  isInside(index: number, outer: number): boolean {
    return index >= outer && index <= this.lastInside(outer);
  }

  /** Browser-generated content of a control is not part of the page. */
  isHidden(index: number): boolean {
    return this.#hidden[index] === 1;
  }

  nameOf(index: number): string {
    return this.string(this.nodes.nodeName[index]);
  }

  /** Index in the layout; undefined for an invisible node. */
  layoutOf(index: number): number | undefined {
    return this.#layout.get(index);
  }

  boxAt(layout: number): Box {
    const [x = 0, y = 0, width = 0, height = 0] = this.layout.bounds[layout] ?? [];
    return { x, y, width, height };
  }

  stylesAt(layout: number | undefined): Styles {
    const values = layout === undefined ? [] : (this.layout.styles[layout] ?? []);
    if (values.length === 0) return plainStyles;
    return Object.fromEntries(wantedStyles.map((name, at) => [name, this.string(values[at])])) as Styles;
  }

  attributesOf(index: number): ReadonlyMap<string, string> {
    const pairs = this.nodes.attributes[index] ?? [];
    const attributes = new Map<string, string>();
    for (let at = 0; at + 1 < pairs.length; at += 2)
      attributes.set(this.string(pairs[at]).toLowerCase(), this.string(pairs[at + 1]));
    return attributes;
  }

  /** Values that only some nodes have; undefined for the others. */
  rare(
    name: "inputValue" | "textValue" | "inputChecked" | "optionSelected" | "isClickable",
    index: number,
  ): number | undefined {
    return this.#rareOf(this.nodes[name]).get(index);
  }

  string(index: number | undefined): string {
    return this.#strings[index ?? -1] ?? "";
  }

  #rareOf(data: Rare | undefined): ReadonlyMap<number, number> {
    if (data === undefined) return new Map();
    let known = this.#rare.get(data);
    if (known === undefined) {
      known = new Map(data.index.map((node, at) => [node, data.value?.[at] ?? 0]));
      this.#rare.set(data, known);
    }
    return known;
  }
}
