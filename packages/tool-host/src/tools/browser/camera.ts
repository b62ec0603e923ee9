import type { Page } from "playwright-core";
import { withSecretsHidden } from "./hide-secrets.ts";

/** Takes screenshots in one browser, one at a time, because a second one would undo the hiding of secrets for the first. */
export class Camera {
  #last: Promise<unknown> = Promise.resolve();

  /** Takes a screenshot with `shoot` while no secret is readable on the page. */
  async take<Picture>(
    page: Page,
    values: readonly string[],
    shoot: () => Promise<Picture>,
  ): Promise<Picture> {
    const taken = this.#last.then(() => withSecretsHidden(page, values, shoot));
    // The failure is reported to its caller.
    this.#last = taken.catch(() => {});
    return await taken;
  }
}
