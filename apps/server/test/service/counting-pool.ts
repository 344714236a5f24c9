import type { DatabasePool } from "../../src/database/database.ts";

/** Wraps a pool and collects the text of every statement that is sent through it. */
export function countingPool(pool: DatabasePool): { pool: DatabasePool; statements: string[] } {
	const statements: string[] = [];
	const counting = <T extends object>(target: T): T =>
		new Proxy(target, {
			get: (_, name) => {
				const value: unknown = Reflect.get(target, name);
				if (typeof value !== "function") return value;
				if (name === "connect") return async () => counting(await pool.connect());
				if (name !== "query") return value.bind(target);
				return (...query: [string | { text: string }, ...unknown[]]) => {
					const [statement] = query;
					statements.push(typeof statement === "string" ? statement : statement.text);
					return value.apply(target, query);
				};
			},
		});
	return { pool: counting(pool), statements };
}
