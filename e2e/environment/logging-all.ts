import type { startEnvironment } from "./environment.ts";

type Configure = NonNullable<NonNullable<Parameters<typeof startEnvironment>[0]>["configure"]>;

/** Logs at the finest level: what must not be in a log must not be in that one either. */
export function loggingAll(configure: Configure = (config) => config): Configure {
	return (config) => configure({ ...config, logLevel: "trace" });
}
