import type { Log } from "../log.ts";
import type { Engine } from "./durable.ts";
import type { EngineAdmin, Invocation } from "./engine-admin.ts";
import { parseSwapKey } from "./swap-key.ts";

const atOnce = 20;

/**
 * Hands each over by itself: one that cannot be keeps no other back. Pumps come first, for every swap that needs a lane
 * waits for its pump. Returns those that were handed over.
 */
export async function handOverAll<T extends Invocation>({
	admin,
	engine,
	invocations,
	isPatient = () => true,
	log,
}: {
	admin: Pick<EngineAdmin, "kill">;
	engine: Pick<Engine, "startSwap" | "poke">;
	invocations: readonly T[];
	/** Where not, the rest is left: an engine that does not answer takes its time with each. */
	isPatient?: () => boolean;
	log: Log;
}): Promise<T[]> {
	const inOrder = invocations.toSorted((a, b) => Number(a.service === "swap") - Number(b.service === "swap"));
	const handedOver: T[] = [];
	for (let i = 0; i < inOrder.length && isPatient(); i += atOnce) {
		await Promise.all(
			inOrder.slice(i, i + atOnce).map(async (one) => {
				try {
					await handOver({ admin, engine }, one);
					handedOver.push(one);
				} catch (error) {
					const { service, key } = one;
					log.warn({ service, key, err: error }, "could not be handed over; it is tried again");
				}
			}),
		);
	}
	return handedOver;
}

/**
 * Ends an execution wherever it is, and has the newest deployment go on from what the store says. At any moment, and
 * however often: of a swap the later execution wins in the store, and a pump repeats from any point.
 */
async function handOver(
	{ admin, engine }: { admin: Pick<EngineAdmin, "kill">; engine: Pick<Engine, "startSwap" | "poke"> },
	{ id, service, key }: Invocation,
): Promise<void> {
	if (service === "swap") {
		const { swapUuid, execution } = parseSwapKey(key);
		// First: whoever dies in between leaves one execution too many, and not none.
		await engine.startSwap(swapUuid, execution + 1);
		await admin.kill(id);
	} else {
		await admin.kill(id);
		await engine.poke({ object: service, key });
	}
}
