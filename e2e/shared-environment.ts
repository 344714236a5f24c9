import { inject } from "vitest";
import { type Environment, joinEnvironment } from "./environment/environment.ts";

/** The environment that all stories of a run share. A story that must be alone uses `newClient`. */
export function sharedEnvironment(): Environment {
	return joinEnvironment(inject("environment"));
}
