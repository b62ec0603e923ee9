import type { Page } from "playwright-core";
import { withSecretsHidden } from "./hide-secrets.ts";

/** Takes the pictures of one browser, one at a time: who hides secrets for one must not be undone by who has taken another. */
export class Camera {
  #last: Promise<unknown> = Promise.resolve();

  /** What `shoot` gives while no value can be read on the page. */
  async take<Picture>(
    page: Page,
    values: readonly string[],
    shoot: () => Promise<Picture>,
  ): Promise<Picture> {
    const taken = this.#last.then(() => withSecretsHidden(page, values, shoot));
    // Its failure is told to who asked for it.
    this.#last = taken.catch(() => {});
    return await taken;
  }
}
