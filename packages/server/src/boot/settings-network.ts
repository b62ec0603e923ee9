import { choice, json, list, named, onOrOff, text, whole } from "./setting.ts";

/** Where the server listens, and who reaches it how. */
export const networkSettings = named({
  host: text({
    flag: "--host",
    fallback: "127.0.0.1",
    doc: "address to listen on",
  }),
  port: whole({
    flag: "--port",
    fallback: 8000,
    least: 0,
    max: 65_535,
    doc: "port to listen on; 0 takes any free one",
  }),
  processes: text({
    flag: "--processes",
    fallback: "1",
    doc: "[processes](operate.md#several-processes) behind the port, 1 to 64, or `auto`",
  }),
  log_level: choice({
    flag: "--log-level",
    choices: ["fatal", "error", "warn", "info", "debug", "silent"],
    fallback: "warn",
    doc: "the least level of log lines",
  }),
  web_url: text({
    shownDefault: "their requests tell",
    doc: "where clients reach the server, for addresses in its answers; its host and origin are allowed",
  }),
  allowed_hosts: list({
    doc: "further host names that clients may use; `*.example.org` covers subdomains",
  }),
  allowed_origins: list({
    doc: "further origins of web pages that may call the server",
  }),
  allow_cors_origins: json({
    variable: "OH_ALLOW_CORS_ORIGINS",
    isNumbered: true,
    doc: "the same as a JSON list, or one each in `OH_ALLOW_CORS_ORIGINS_0`, `_1`, ...",
  }),
  allowed_origin_regex: text({
    aliases: ["OH_ALLOW_CORS_ORIGIN_REGEX"],
    doc: "a regular expression for further origins, each as a whole",
  }),
  docker_host_addr: text({
    variable: "DOCKER_HOST_ADDR",
    doc: "a name of this machine that containers use: its pages and its `Host` are taken as those of loopback",
  }),
  ollama_host: text({
    variable: "OLLAMA_HOST",
    shownDefault: "`127.0.0.1:11434`",
    doc: "where Ollama listens on this machine, for the list of [local model servers](models.md#models-on-this-machine); another machine is not asked",
  }),
  trusted_proxies: list({
    doc: "proxies whose `X-Forwarded-*` headers are believed, see [run a server](operate.md)",
  }),
  web_push: choice({
    choices: ["on", "off"],
    fallback: "off",
    doc: "`on` tells browsers while no page is open, see [notifications](push.md)",
  }),
  web_push_contact: text({
    shownDefault: "`CONVOKE_WEB_URL`",
    doc: "whom push services ask about messages: `mailto:` or `https:`",
  }),
  web_push_services: text({
    shownDefault: "see [there](push.md)",
    doc: "which push services may be called",
  }),
  webhooks: json({
    aliases: ["OH_WEBHOOKS"],
    isNumbered: true,
    isSecret: true,
    doc: "where events are posted, see [webhooks](webhooks.md)",
  }),
  docs: choice({
    choices: ["on", "off"],
    fallback: "on",
    doc: "`off` does not serve the documentation at `/docs/`",
  }),
  metrics: choice({
    choices: ["key", "open", "off"],
    fallback: "key",
    doc: "`open` needs no key, `off` serves none, see [observability](observability.md)",
  }),
  otel_exporter_otlp_endpoint: text({
    variable: "OTEL_EXPORTER_OTLP_ENDPOINT",
    doc: "the collector of [traces](observability.md#traces); `/v1/traces` is added",
  }),
  otel_exporter_otlp_traces_endpoint: text({
    variable: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    doc: "its complete address; wins",
  }),
  otel_exporter_otlp_headers: text({
    variable: "OTEL_EXPORTER_OTLP_HEADERS",
    isSecret: true,
    doc: "`name=value,name=value`, such as a key of the collector",
  }),
  otel_exporter_otlp_traces_headers: text({
    variable: "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    isSecret: true,
    doc: "the same, for traces only",
  }),
  otel_service_name: text({
    variable: "OTEL_SERVICE_NAME",
    fallback: "convoke",
    doc: "the name of the service in traces",
  }),
  otel_sdk_disabled: onOrOff({
    variable: "OTEL_SDK_DISABLED",
    fallback: false,
    doc: "`true` traces nothing",
  }),
  otel_instrumentation_genai_capture_message_content: onOrOff({
    variable: "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
    fallback: false,
    doc: "`true` puts what models are sent into their spans",
  }),
});
