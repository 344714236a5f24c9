import {
	type Address,
	BaseError,
	concat,
	type Hex,
	HttpRequestError,
	type Log,
	numberToHex,
	RpcRequestError,
	toHex,
	zeroAddress,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { EvmChain } from "../connect-chain.ts";
import { delegationPrefix } from "../wallet/wallet-delegation.ts";
import { callWithCodes } from "./call-with-codes.ts";
import { simulateByCall } from "./simulate-by-call.ts";
import { simulateBySimulateV1 } from "./simulate-by-simulate-v1.ts";
import { simulateByTrace } from "./simulate-by-trace.ts";
import type { Simulate, Simulation } from "./simulation.ts";
import { withDelegationsSet } from "./with-delegations-set.ts";

type Node = Pick<EvmChain, "chainId" | "client">;

/** The methods that a transaction can be simulated by, the best first. */
export const simulationMethods = ["eth_simulateV1", "eth_call", "debug_traceCall"] as const;
export type SimulationMethod = (typeof simulationMethods)[number];

/** How a node simulates, as found by probing it. */
export type Simulator = {
	method: SimulationMethod;
	/** False if the node leaves authorizations (EIP-7702) out, so that delegations are set as state overrides. */
	takesAuthorizations: boolean;
	/** The better methods, and why they cannot be used on this node. */
	refused: { method: SimulationMethod; reason: string }[];
	simulate: Simulate;
};

/** Returns the best way to simulate on a node. Throws if there is none, or if the node does not answer at all. */
export async function findSimulator(node: Node): Promise<Simulator> {
	const refused: Simulator["refused"] = [];
	for (const method of simulationMethods) {
		const probed = await probeSimulation(node, method);
		if ("simulate" in probed) return { ...probed, method, refused };
		refused.push({ method, reason: probed.reason });
	}
	const reasons = refused.map(({ method, reason }) => `${method}: ${reason}`).join("; ");
	throw new Error(
		`no transaction can be simulated on chain ${node.chainId}; configure a node with one of these methods (${reasons})`,
	);
}

type Probed = Pick<Simulator, "simulate" | "takesAuthorizations"> | { reason: string };

/** Tries to simulate by one method. Throws if the node does not answer at all, or limits requests. */
export async function probeSimulation(node: Node, method: SimulationMethod): Promise<Probed> {
	try {
		return await probes[method](node);
	} catch (error) {
		await rethrowUnlessRefused(node, error);
		return { reason: error instanceof BaseError ? error.shortMessage : String(error) };
	}
}

/**
 * Code that returns and logs the word 42: PUSH1 42, PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, LOG0, PUSH1 32, PUSH1 0,
 * RETURN.
 */
const answeringCode: Hex = "0x602a60005260206000a060206000f3";
const answer = numberToHex(42, { size: 32 });
/** Unused accounts. The code is set at one, and the other is delegated to it. */
const answerer: Address = "0x00000000000000000000000067656f73776170c0";
const wallet = privateKeyToAccount(toHex("a key that owns nothing", { size: 32 }));
const delegated = {
	from: zeroAddress,
	to: wallet.address,
	data: "0x" as const,
	gas: 1_000_000n,
	codes: [
		{ address: answerer, code: answeringCode },
		{ address: wallet.address, code: concat([delegationPrefix, answerer]) },
	],
	orders: [],
};

const ignored = { reason: "the node ignores state overrides" };

const probes: Record<SimulationMethod, (node: Node) => Promise<Probed>> = {
	async eth_simulateV1(node) {
		const simulate = simulateBySimulateV1(node);
		const { client, chainId } = node;
		const authorization = await wallet.signAuthorization({ address: answerer, chainId, nonce: 0 });
		const [block] = await client.simulateBlocks({
			blocks: [
				{
					calls: [{ account: zeroAddress, to: wallet.address, authorizationList: [authorization] }],
					stateOverrides: [
						{ address: answerer, code: answeringCode },
						{ address: wallet.address, nonce: 0, code: "0x" },
					],
				},
			],
		});
		const result = block?.calls[0];
		if (result?.data === answer && isLogged(result.logs)) return { simulate, takesAuthorizations: true };
		if (!isAnswered(await simulate(delegated))) return ignored;
		return { simulate: withDelegationsSet(node, simulate), takesAuthorizations: false };
	},
	async eth_call(node) {
		if ((await callWithCodes(node, delegated, delegated.codes)) !== answer) return ignored;
		return { simulate: withDelegationsSet(node, simulateByCall(node)), takesAuthorizations: false };
	},
	async debug_traceCall(node) {
		const simulate = simulateByTrace(node);
		if (!isAnswered(await simulate(delegated))) return ignored;
		return { simulate: withDelegationsSet(node, simulate), takesAuthorizations: false };
	},
};

function isAnswered(simulation: Simulation): boolean {
	return simulation.succeeds && "logs" in simulation && isLogged(simulation.logs);
}

function isLogged(logs: readonly Log[] | undefined): boolean {
	return logs?.length === 1 && logs[0]?.data === answer;
}

/** JSON-RPC errors with which providers limit requests. */
const limitCodes = [-32_005, 429];

/**
 * Rethrows the errors of a node that is busy or away, which do not depend on the method. Some nodes break the
 * connection at a method that they do not support, so one that answers another call right afterwards counts as having
 * refused.
 */
async function rethrowUnlessRefused({ client }: Node, error: unknown): Promise<void> {
	if (!(error instanceof BaseError)) return;
	const refusal = error.walk((cause) => cause instanceof RpcRequestError);
	if (refusal instanceof RpcRequestError) {
		if (limitCodes.includes(refusal.code)) throw error;
		return;
	}
	const failure = error.walk((cause) => cause instanceof HttpRequestError);
	if (failure instanceof HttpRequestError && failure.status === 429) throw error;
	await client.getChainId().catch(() => {
		throw error;
	});
}
