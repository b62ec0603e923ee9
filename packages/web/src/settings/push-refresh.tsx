import { useEffect } from "react";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";
import { subscribeToPush } from "./browser-push.ts";
import { notificationKinds, readNotificationPreferences } from "./notification-preferences.ts";

/** Renews the push subscription at startup: endpoints, logins and languages change while no page is open. */
export default function PushRefresh() {
  const { kinds } = useMoreWords().settings.notifications;
  const { client, storage } = useServices();
  useEffect(() => {
    const preferences = readNotificationPreferences(storage);
    const wanted = notificationKinds.filter((kind) => preferences[kind]);
    subscribeToPush({ client, storage }, wanted, kinds).catch((error: unknown) => {
      // Not critical; the settings page shows the error.
      console.warn("The push subscription could not be renewed.", error);
    });
  }, [client, storage, kinds]);
  return null;
}
