import type { startEnvironment } from "./environment.ts";

type Configure = NonNullable<NonNullable<Parameters<typeof startEnvironment>[0]>["configure"]>;

/** Sets the finest log level, because even that log must not contain secrets. */
export function loggingAll(configure: Configure = (config) => config): Configure {
	return (config) => configure({ ...config, logLevel: "trace" });
}
