import { formatAddress, type Seconds } from "@geoswap/protocol";
import { attesterSetOfChain, type ChainConfig } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import type { Vitals } from "../../watch/read-vitals.ts";

type AttesterState = {
	attester: string;
	/** Time since the last heartbeat for the chain. Undefined if there was none. */
	secondsAgo: Seconds | undefined;
	isAlive: boolean;
};

export type ChainAttesters = { threshold: number; alive: number; all: AttesterState[] };

/** An attester is silent after this time, as in deploy/alerts.yml, or earlier if the configuration sets less. */
const silentSeconds = 300;

/** Returns which attesters of a chain are alive. Undefined if none are needed, because no swap goes to another chain. */
export function attestersOf(
	chain: ChainConfig,
	{
		vitals,
		config,
	}: { vitals: Pick<Vitals, "heartbeats">; config: Pick<Config, "chains" | "heartbeatSeconds"> },
): ChainAttesters | undefined {
	if (config.chains.length < 2) return undefined;
	const { threshold, attesters } = attesterSetOfChain(chain);
	const all = attesters.map((attester): AttesterState => {
		const beat = vitals.heartbeats.find(
			(one) => one.chainId === chain.chainId && formatAddress(1, one.attester) === formatAddress(1, attester),
		);
		const isAlive = beat !== undefined && beat.secondsAgo <= Math.min(silentSeconds, config.heartbeatSeconds);
		return { attester, secondsAgo: beat?.secondsAgo, isAlive };
	});
	return { threshold, alive: all.filter(({ isAlive }) => isAlive).length, all };
}
