import type { Hex } from "viem";
import type { PlannedMove } from "../../src/treasury/planned-move.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { BridgeMessage } from "./world-chain.ts";
import { cctp } from "./world-terms.ts";

/** The answer of the bridge's service about a burn. */
type Attestation = { status: "none" } | { status: "complete"; message: BridgeMessage; isExpired: boolean };

/** A messenger that burns and attests, and a service that is late, silent, wrong, forgetful, or lets messages expire. */
export type WorldBridge = {
	burn: (move: PlannedMove) => void;
	look: (moveId: Hex) => Attestation;
	/** Has a burn attested again that is missing or expired. */
	requestAgain: (moveId: Hex) => void;
	/** The first second at which the service may have something new. */
	readyAt: (moveId: Hex) => number;
};

type Fault = "none" | "late" | "silent" | "wrong" | "lost" | "expired";

/** Share of all burns that meet each fault. */
const faults: readonly [Fault, number][] = [
	["late", 0.03],
	["silent", 0.01],
	["wrong", 0.02],
	["lost", 0.01],
	["expired", 0.02],
];

type Burn = { message: BridgeMessage; readySecond: number; fault: Fault; looks: number };

export function createWorldBridge({
	random,
	now,
	slowness,
}: {
	random: SeededRandom;
	now: () => number;
	/** How many times longer than published it takes. */
	slowness: number;
}): WorldBridge {
	const burns = new Map<Hex, Burn>();
	const burnOf = (moveId: Hex) => {
		const burn = burns.get(moveId);
		if (!burn) throw new Error(`no burn ${moveId}`);
		return burn;
	};
	return {
		burn: ({ moveId, toChainId, address, amount, route }) => {
			const { from, to } = route?.isFast ? cctp.fast : cctp.standard;
			const fault = chooseFault(random);
			const late = fault === "late" ? random.between(60, 3_600) : 0;
			const silent = fault === "silent" ? random.between(2 * 3_600, 6 * 3_600) : 0;
			burns.set(moveId, {
				message: {
					moveId,
					toChainId,
					recipient: address,
					amount: amount - (route?.fee ?? 0n),
					isSigned: true,
				},
				readySecond: now() + slowness * random.between(from, to) + late + silent,
				fault: fault === "expired" && !route?.isFast ? "none" : fault,
				looks: 0,
			});
		},
		readyAt: (moveId) => burnOf(moveId).readySecond,
		look: (moveId) => {
			const burn = burnOf(moveId);
			if (now() < burn.readySecond || burn.fault === "lost") return { status: "none" };
			burn.looks++;
			const isWrong = burn.fault === "wrong" && burn.looks <= 3;
			const message = isWrong
				? { ...burn.message, amount: burn.message.amount * 10n, isSigned: false }
				: burn.message;
			return { status: "complete", message, isExpired: burn.fault === "expired" };
		},
		requestAgain: (moveId) => {
			const burn = burnOf(moveId);
			if (burn.fault !== "lost" && burn.fault !== "expired") return;
			burn.fault = "none";
			burn.readySecond = now() + random.between(60, 300);
		},
	};
}

function chooseFault(random: SeededRandom): Fault {
	let left = random.next();
	for (const [fault, share] of faults) {
		left -= share;
		if (left < 0) return fault;
	}
	return "none";
}
