import type { Suggest } from "@convoke/client/view";
import { ChoiceList } from "./input/choice-list.ts";
import type { Completer } from "./input/completer.ts";
import type { Key } from "./input/key-reader.ts";
import type { Sender } from "./sender.ts";
import type { ChatDeps, Stage } from "./stage.ts";
import type { Offer } from "./talk/offer.ts";
import type { Question } from "./talk/question.ts";

export type KeysDeps = Pick<ChatDeps, "attention" | "edit" | "history" | "nowMs" | "terminal"> & {
  readonly stage: Stage;
  readonly sender: Sender;
  readonly question: Question;
  readonly offer: Offer;
  readonly completer: Completer;
  /** The list that is chosen from, if one is open. */
  readonly list: () => ChoiceList | null;
  readonly suggest: () => Suggest;
};

/** Says what each key does: it belongs to an open list, to an offer, to a question, to the completion, to the chat or to the editor, in this order. */
export class Keys {
  readonly #deps: KeysDeps;
  #lastCtrlCMs = Number.NEGATIVE_INFINITY;

  constructor(deps: KeysDeps) {
    this.#deps = deps;
  }

  press(key: Key): void {
    if (key.type === "focus") return this.#deps.attention.setFocus(key.isFocused);
    const { stage, question, completer, sender, suggest } = this.#deps;
    const { editor } = stage;
    stage.say("");
    const list = this.#deps.list();
    if (list !== null) return list.press(key);
    if (editor.isEmpty && this.#deps.offer.press(key)) return;
    const isAnswer = editor.isEmpty || question.isTyping;
    if (isAnswer && question.press(key)) return;
    if (completer.press(key, editor)) return;
    if (key.type === "text") editor.insert(key.text);
    else if (key.type === "paste") void stage.attempt(() => sender.paste(key.text));
    else if (!this.#command(key) && !editor.press(key)) this.#move(key.name);
    completer.update(editor, suggest());
  }

  /** Keys of the chat itself; false for those of the editor. */
  #command(key: Extract<Key, { type: "key" }>): boolean {
    const { stage, sender, history, terminal } = this.#deps;
    if (key.name === "enter") {
      if (key.alt || key.shift) stage.editor.insert("\n");
      else void sender.enter(key.ctrl ? "interrupt" : null);
      return true;
    }
    if (key.alt && key.name === "q") {
      void sender.enter("queue");
      return true;
    }
    if (key.name === "escape") {
      void stage.attempt(() => sender.interrupt());
      return true;
    }
    if (!key.ctrl) return false;
    switch (key.name) {
      case "c":
        this.#ctrlC();
        return true;
      case "d":
        if (!stage.editor.isEmpty) return false;
        stage.leave();
        return true;
      case "z":
        void stage.lend(() => terminal.suspend());
        return true;
      case "o":
        void stage.attempt(() => sender.showCut(1));
        return true;
      case "v":
        void stage.attempt(() => sender.attach());
        return true;
      case "g":
        void this.#edit();
        return true;
      case "r":
        stage.choose(
          new ChoiceList(
            "sent before",
            history.texts().map((text) => ({ label: text.split("\n")[0]!, detail: "", value: text })),
            (text) => stage.editor.set(text),
          ),
        );
        return true;
      default:
        return false;
    }
  }

  async #edit(): Promise<void> {
    const { stage, edit } = this.#deps;
    let text = stage.editor.whole;
    await stage.lend(async () => {
      text = await edit(text);
    });
    stage.editor.set(text.trimEnd());
    stage.draw();
  }

  #ctrlC(): void {
    const { stage, sender, nowMs } = this.#deps;
    const now = nowMs();
    if (!stage.editor.isEmpty) {
      stage.editor.clear();
      return;
    }
    if (now - this.#lastCtrlCMs < 1_000) return stage.leave();
    this.#lastCtrlCMs = now;
    void stage.attempt(() => sender.interrupt());
    stage.say("ctrl-c again leaves");
  }

  /** Up and down where the text has no line there. */
  #move(name: string): void {
    const { history, sender, stage } = this.#deps;
    if (name === "up") {
      if (stage.editor.isEmpty && sender.takeBack()) return;
      const text = history.older(stage.editor.text);
      if (text !== null) stage.editor.set(text);
    }
    const newer = name === "down" ? history.newer() : null;
    if (newer !== null) stage.editor.set(newer);
  }
}
