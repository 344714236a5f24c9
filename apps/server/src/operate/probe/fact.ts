import { sayWhy } from "../check/finding.ts";

/** A measured value, and how it was measured. */
export type Fact<T> = { value: T; how: string };

/** Returns a fact, or one without a value that states why it could not be measured. */
export async function measure<T>(ask: () => Promise<Fact<T>>): Promise<Fact<T> | Fact<undefined>> {
	try {
		return await ask();
	} catch (error) {
		return { value: undefined, how: `not measured: ${sayWhy(error)}` };
	}
}
