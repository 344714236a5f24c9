import { setTimeout as sleep } from "node:timers/promises";
import { type FaultyProvider, providerFaults } from "./faulty-provider.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** How long the providers of a chain stay as they are. */
const periodMs = { least: 2_000, most: 8_000 };

export type ProviderTrouble = {
	/** Moments at which a healthy provider of the chain became faulty. */
	failures: number[];
	/** Time with so many healthy providers, by their number. */
	healthyMs: Record<number, number>;
	/** Heals all providers. */
	stop: () => Promise<void>;
};

/** Makes one to three providers of a chain faulty at any time, until stopped. */
export function troubleProviders(
	providers: readonly FaultyProvider[],
	random: SeededRandom,
): ProviderTrouble {
	const failures: number[] = [];
	const healthyMs: Record<number, number> = {};
	const stopping = new AbortController();
	const done = run();
	return {
		failures,
		healthyMs,
		stop: async () => {
			stopping.abort();
			await done;
		},
	};

	async function run(): Promise<void> {
		while (!stopping.signal.aborted) {
			const faulty = pickSome(random.between(1, providers.length - 1));
			const wasHealthy = providers.filter((provider) => provider.fault() === undefined);
			for (const provider of providers) {
				provider.setFault(faulty.includes(provider) ? random.pick(providerFaults) : undefined);
			}
			if (wasHealthy.some((provider) => faulty.includes(provider))) failures.push(Date.now());
			const healthy = providers.length - faulty.length;
			const startedAt = performance.now();
			await sleep(random.between(periodMs.least, periodMs.most), undefined, {
				signal: stopping.signal,
			}).catch(() => {});
			healthyMs[healthy] = (healthyMs[healthy] ?? 0) + performance.now() - startedAt;
		}
		for (const provider of providers) provider.setFault(undefined);
	}

	function pickSome(count: number): FaultyProvider[] {
		const left = [...providers];
		return Array.from({ length: count }, () => {
			const [picked] = left.splice(random.between(0, left.length - 1), 1);
			return picked as FaultyProvider;
		});
	}
}
