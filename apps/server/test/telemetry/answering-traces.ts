import type { DatabasePool } from "../../src/database/database.ts";

/** Wraps the database so that `answer` decides which swaps are traced. */
export function answeringTraces(
	pool: DatabasePool,
	answer: (swapIds: string[]) => Promise<{ id: string; trace: string }[]>,
): DatabasePool {
	return new Proxy(pool, {
		get: (target, name) => {
			if (name !== "query") {
				const value: unknown = Reflect.get(target, name);
				return typeof value === "function" ? value.bind(target) : value;
			}
			return async (
				query: string | { name?: string; text: string; values: string[][] },
				values?: unknown[],
			) => {
				if (typeof query === "string") return target.query(query, values);
				if (query.name === "read-traces") return { rows: await answer(query.values.flat()) };
				return target.query(query);
			};
		},
	});
}
