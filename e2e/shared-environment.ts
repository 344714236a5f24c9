import { inject } from "vitest";
import { type Environment, joinEnvironment } from "./environment/environment.ts";

/** Returns the environment that all tests of a run share. A test that needs its own account uses `newClient`. */
export function sharedEnvironment(): Environment {
	return joinEnvironment(inject("environment"));
}
