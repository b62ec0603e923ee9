export { startCertifiedProvider, type CertifiedProvider } from "./certified-provider.ts";
export { oidcSettingsOf } from "./oidc-settings-of.ts";
