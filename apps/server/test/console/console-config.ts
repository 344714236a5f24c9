import {
	attesterSetHash,
	deploymentSchema,
	fromSolanaWord,
	solanaChainId,
	solanaNativeToken,
} from "@geoswap/protocol";
import { type Address, getAddress, numberToHex, zeroAddress } from "viem";
import { configSchema } from "../../src/config/config.ts";
import type { ConsoleConfig } from "../../src/config/config-problems.ts";
import { joinDeployment } from "../../src/config/read-config.ts";
import { testProgram } from "../order/test-program.ts";

/** The chains of the console's tests. They have no contracts, and no node is called. */
export const [baseId, arbitrumId] = [8_453, 42_161];

const made = (n: number): Address => getAddress(numberToHex(0xc0ffee_0000n + BigInt(n), { size: 20 }));
const attesters = [made(1), made(2), made(3)];
const attesterSet = { threshold: 2, attesters };

function evmChain(chainId: number, name: string, kind: "op-stack" | "arbitrum", usdc: Address) {
	const feed = { address: made(chainId), heartbeatSeconds: 86_400, deviationBps: 10 };
	return {
		chainId,
		name,
		kind,
		contracts: {
			delegate: made(10),
			typedDelegate: made(18),
			earlierDelegates: [],
			escrow: made(11),
			earlierEscrows: [],
			vault: made(12),
			earlierVaults: [],
			accessManager: made(13),
		},
		attesterSet: { ...attesterSet, hash: attesterSetHash(attesterSet) },
		uniswap: { factory: made(14), router: made(15), quoterV2: made(16) },
		wrappedNative: made(17),
		settlementToken: usdc,
		assets: [
			{ symbol: "USDC", address: usdc, decimals: 6, kind: "stable", feed, paths: [] },
			{ symbol: "WETH", address: made(17), decimals: 18, kind: "volatile", feed, paths: [[500]] },
			{ symbol: "ETH", address: zeroAddress, decimals: 18, kind: "volatile", feed, paths: [[500]] },
		],
		deployedAtBlock: 1,
	};
}

const solanaKey = (n: number) => fromSolanaWord(numberToHex((BigInt(n) << 240n) + 7n, { size: 32 }));
const solanaFeed = { chainId: baseId, address: made(30), heartbeatSeconds: 86_400, deviationBps: 10 };

const deployment = deploymentSchema.parse({
	chains: [
		evmChain(baseId, "Base", "op-stack", made(20)),
		evmChain(arbitrumId, "Arbitrum One", "arbitrum", made(21)),
	],
	solana: {
		chainId: solanaChainId,
		name: "Solana",
		genesisHash: solanaKey(1),
		feePayers: [solanaKey(2), solanaKey(3)],
		program: testProgram({
			address: solanaKey(4),
			vault: solanaKey(5),
			operator: solanaKey(8),
			attesterSet: { ...attesterSet, hash: attesterSetHash(attesterSet) },
		}),
		settlementToken: solanaKey(6),
		assets: [
			{ symbol: "USDC", address: solanaKey(6), decimals: 6, kind: "stable", feed: solanaFeed },
			{ symbol: "SOL", address: solanaNativeToken, decimals: 9, kind: "volatile", feed: solanaFeed },
		],
	},
});

const pace = { finalitySeconds: 900, openSeconds: 300, fillSeconds: 1_200, refundSeconds: 1_800 };
const depths = [{ upToUsd: 10_000, blocks: 2 }];

/** Returns the configuration of a service on Base, Arbitrum and Solana, with a console at this port. */
export function consoleConfig({ port = 9_090 }: { port?: number } = {}): ConsoleConfig {
	const file = configSchema.parse({
		deployment: "deployment.json",
		chains: {
			[baseId]: { ...pace, depths, nodes: [{ url: "http://a" }], explorerUrl: "https://basescan.org" },
			[arbitrumId]: { ...pace, depths, nodes: [{ url: "http://a" }], explorerUrl: "https://arbiscan.io" },
		},
		solana: {
			...pace,
			depths,
			finalitySeconds: 20,
			openSeconds: 180,
			nodes: [{ url: "http://a" }],
			explorerUrl: "https://explorer.solana.com",
		},
		api: { port: 0 },
		worker: { port: 0 },
		restate: { ingressUrl: "http://a", adminUrl: "http://a" },
		attesters: attesters.map(() => ({ url: "http://a" })),
		console: { port },
	});
	const config = joinDeployment("config.json", file, deployment);
	if (!config.console) throw new Error("the configuration has a console");
	return { ...config, console: config.console };
}
