import {
  defaultTools,
  listSession,
  type SessionSpec,
  type Tool,
  type ToolListing,
  type ToolSet,
} from "@convoke/tool-host";

/**
 * What the tools behind walls are, before a wall has answered: their program is that of this release. What a running wall lists is not
 * read, so that nothing inside can change what a model is told of its tools.
 */
export class KnownTools {
  readonly #tools: readonly (Tool | ToolSet)[] = defaultTools();
  /** Of the last wall that answered. */
  #catalogue: readonly string[] | null = null;

  /** Of a wall that answered: some tools need programs, which this machine may have and a wall may not show. */
  learn(catalogue: readonly string[]): void {
    this.#catalogue = catalogue;
  }

  /** Whether a wall is known to have all tools of these names, or to lack them. */
  isCertain(names: readonly string[]): boolean {
    if (this.#catalogue !== null) return true;
    const certain = this.#certain();
    return names.every((name) => certain.includes(name) || !this.#tools.some((tool) => tool.name === name));
  }

  /** The names that are certain, sorted. */
  get catalogue(): readonly string[] {
    return this.#catalogue ?? this.#certain();
  }

  list(spec: SessionSpec): readonly ToolListing[] {
    return listSession(
      this.#tools.filter(({ name }) => this.catalogue.includes(name)),
      spec,
    );
  }

  #certain(): readonly string[] {
    return this.#tools
      .filter((tool) => !("isUsable" in tool))
      .map(({ name }) => name)
      .toSorted();
  }
}
