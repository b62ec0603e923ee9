import type { Emitter, LanguageFn } from "highlight.js";
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { Language } from "./language-of.ts";
import { tokenTypes, type TokenRanges } from "./token-types.ts";

const languages: Readonly<Record<Language, LanguageFn>> = {
  bash,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};

/** Token types by the first part of a grammar's scope name; other scopes inherit. */
const typeOfScope: Readonly<Record<string, (typeof tokenTypes)[number]>> = {
  addition: "added",
  attr: "name",
  attribute: "name",
  built_in: "type",
  bullet: "keyword",
  char: "string",
  comment: "comment",
  deletion: "removed",
  doctag: "keyword",
  keyword: "keyword",
  link: "string",
  literal: "number",
  meta: "comment",
  name: "keyword",
  number: "number",
  property: "name",
  quote: "comment",
  regexp: "string",
  section: "name",
  "selector-attr": "type",
  "selector-class": "type",
  "selector-id": "type",
  "selector-pseudo": "type",
  "selector-tag": "keyword",
  string: "string",
  symbol: "number",
  tag: "name",
  "template-variable": "type",
  title: "name",
  type: "type",
  variable: "type",
};

/** Tokenizes a text. Runs in a worker, because a grammar can be slow. */
export function openReader(): (text: string, language: Language) => TokenRanges {
  const reader = hljs.newInstance();
  reader.configure({ __emitter: RangeEmitter });
  for (const [name, grammar] of Object.entries(languages)) reader.registerLanguage(name, grammar);
  return (text, language) => {
    const { _emitter: emitter } = reader.highlight(text, { language, ignoreIllegals: true }) as unknown as {
      readonly _emitter: RangeEmitter;
    };
    return emitter.ranges;
  };
}

/** Collects the grammar's output as ranges of the text. No markup is created. */
class RangeEmitter implements Emitter {
  readonly ranges: number[] = [];
  readonly #open: number[] = [];
  #offset = 0;

  addText(text: string): void {
    const from = this.#offset;
    this.#offset += text.length;
    this.#add(from, this.#offset, this.#open.at(-1) ?? -1);
  }

  startScope(scope: string): void {
    const tokenType = typeOfScope[scope.split(".")[0] ?? ""];
    this.#open.push(tokenType === undefined ? (this.#open.at(-1) ?? -1) : tokenTypes.indexOf(tokenType));
  }

  endScope(): void {
    this.#open.pop();
  }

  /** Older names of the two methods, which the grammars still call. */
  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  /** A nested language, such as a script in HTML. */
  __addSublanguage(inner: RangeEmitter): void {
    const { ranges } = inner;
    for (let index = 0; index < ranges.length; index += 3)
      this.#add(this.#offset + ranges[index]!, this.#offset + ranges[index + 1]!, ranges[index + 2]!);
    this.#offset += inner.#offset;
  }

  finalize(): void {}

  toHTML(): string {
    return "";
  }

  #add(from: number, to: number, tokenType: number): void {
    if (tokenType < 0 || from === to) return;
    const { ranges } = this;
    if (ranges.at(-1) === tokenType && ranges.at(-2) === from) ranges[ranges.length - 2] = to;
    else ranges.push(from, to, tokenType);
  }
}
