import type { Milliseconds } from "@geoswap/protocol";
import type { Engine, PokeTarget } from "./engine.ts";

export type SkippingEngine = Engine & {
	/** Replaces the handlers that are known to be overdue. */
	setOverdue: (targets: readonly PokeTarget[]) => void;
	isOverdue: (target: PokeTarget) => boolean;
};

/**
 * Milliseconds after which handlers are poked again. If the next tick hangs or fails, no tick here would run them.
 */
const believedMs = 2_000;

/**
 * Returns an engine that skips pokes of handlers that the last tick found overdue. A handler that hangs blocks every
 * later one of its key, and each poke would add one more. The tick runs such a handler itself.
 */
export function skipOverdue(engine: Engine, { nowMs }: { nowMs: () => Milliseconds }): SkippingEngine {
	let overdue = new Set<string>();
	let foundAtMs = 0;
	const isOverdue = (target: PokeTarget) => overdue.has(nameOf(target)) && nowMs() - foundAtMs <= believedMs;
	return {
		poke: async (target, options) => {
			if (!isOverdue(target)) await engine.poke(target, options);
		},
		setOverdue: (targets) => {
			overdue = new Set(targets.map(nameOf));
			foundAtMs = nowMs();
		},
		isOverdue,
	};
}

function nameOf({ object, key }: PokeTarget): string {
	return `${object}/${key}`;
}
