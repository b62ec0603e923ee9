import type { ConvokeClient } from "@convoke/client";
import type { LoginState } from "../connection/login-state.ts";
import { exchangeTicket, takeLoginLink } from "./exchange.ts";

/**
 * Logs in with the ticket of the address, if there is one. Returns why that did not succeed: `linkUsed`, or the code of a
 * refusal by the identity provider's login, which the login form shows.
 */
export async function enterByLink(client: ConvokeClient, login: LoginState): Promise<string | null> {
  const link = takeLoginLink(location, (address) => history.replaceState(null, "", address));
  if (link === null) return null;
  if ("refusal" in link) return link.refusal;
  try {
    const entered = await exchangeTicket(client, link.ticket, (question) => confirm(question));
    if (entered !== null) login.enter(entered.proof, entered.user_id);
    return null;
  } catch {
    // The login form says so and takes a key instead.
    login.leave();
    return "linkUsed";
  }
}
