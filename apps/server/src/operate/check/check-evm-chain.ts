import type { ChainDeployment } from "@geoswap/protocol";
import { type Address, createPublicClient, formatEther, http, parseAbi, zeroAddress } from "viem";
import { connectChain, type EvmChain } from "../../chain/evm/connect-chain.ts";
import { feeModelOf } from "../../chain/evm/fee/fee-model.ts";
import { readFeeRates } from "../../chain/evm/fee/read-tip.ts";
import { readBlock } from "../../chain/evm/read/read-block.ts";
import { readBlockPrices } from "../../chain/evm/read/read-block-prices.ts";
import { maxTransactionGas } from "../../chain/evm/send/simulate-bundle.ts";
import { assetsPricedOn, type EvmChainConfig, firstUrl, nodesFor } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { evmTransactions } from "../../desk/network-cost.ts";
import { isFeedFresh } from "../../desk/price/reference-problem.ts";
import { expectChainIds } from "../../preflight/expect-chain-ids.ts";
import { measure } from "../probe/fact.ts";
import { judgeFeeModel, judgeFinality, judgeMethods } from "../probe/judge-methods.ts";
import { measureFinality } from "../probe/measure-blocks.ts";
import { measureFeeModel } from "../probe/measure-fee-model.ts";
import { probeMethods } from "../probe/probe-methods.ts";
import { check, type Finding, type Found, fail, ok, warn } from "./finding.ts";

/** Roles of those who send transactions, as numbered by the vault's AccessManager. */
const senderRoles = { OPERATOR: 1n, TREASURER: 4n } as const;
const managerAbi = parseAbi([
	"function hasRole(uint64 roleId, address account) view returns (bool isMember, uint32 executionDelay)",
]);

/** Checks an endpoint, the contracts behind it, its feeds, and the relayers and the treasurer, if their keys are here. */
export async function checkEvmChain(
	config: EvmChainConfig,
	{
		service,
		relayers,
		treasurer,
	}: {
		service: Pick<Config, "chains" | "price">;
		relayers: readonly Address[];
		/** Absent if the treasury does not act. */
		treasurer: Address | undefined;
	},
): Promise<Finding[]> {
	const chain = connectChain({ ...config, rpcUrl: firstUrl(config) });
	const part = `chain ${chain.chainId}`;
	const endpoint = await check(`${part} endpoint`, () => checkEndpoint(chain));
	// Answers of another chain's endpoint mean nothing.
	if (endpoint.some(({ result }) => result === "fail")) return endpoint;
	const others = config.nodes.filter(({ url }) => url !== firstUrl(config));
	const findings = await Promise.all([
		...others.map(({ url, roles }) =>
			check(`${part} node ${new URL(url).host}`, () =>
				checkOtherNode(chain, connectChain({ ...config, rpcUrl: url }), roles),
			),
		),
		checkReaders(config),
		check(`${part} contracts`, () => checkContracts(chain)),
		check(`${part} feeds`, () => checkFeeds(chain, service)),
		...relayers.map((relayer) =>
			check(`${part} relayer ${relayer}`, () => checkRelayer(chain, relayer, config)),
		),
		...(treasurer
			? [check(`${part} treasurer ${treasurer}`, () => checkSender(chain, treasurer, { role: "TREASURER" }))]
			: []),
	]);
	return [...endpoint, ...findings.flat()];
}

/**
 * Checks that each kind of request is possible on some node with the role `read`, and that the chain charges by the
 * configured fee model.
 */
async function checkReaders(config: EvmChainConfig): Promise<Finding[]> {
	const { deployment, finalitySeconds, chainId } = config;
	const readers = nodesFor("read", config).map(({ url }) => ({
		url,
		part: `chain ${chainId} node ${new URL(url).host}`,
		client: createPublicClient({ transport: http(url, { retryCount: 1 }), cacheTime: 0 }),
	}));
	const probed = await Promise.all(readers.map(({ url, client }) => probeMethods({ url, chainId, client })));
	const findings = await Promise.all(
		readers.flatMap(({ part, client }, i) => [
			check(`${part} methods`, async () => {
				const [own, ...others] = [...probed.slice(i), ...probed.slice(0, i)];
				return own ? judgeMethods(own, others) : [];
			}),
			check(`${part} finality`, async () =>
				judgeFinality(await measure(() => measureFinality(client)), { finalitySeconds }),
			),
			check(`${part} fees`, async () =>
				judgeFeeModel(await measure(() => measureFeeModel(client)), deployment),
			),
		]),
	);
	return findings.flat();
}

/** Checks the endpoint, which is all that an attester reads. */
export async function checkEndpoint(chain: EvmChain): Promise<Found> {
	await expectChainIds([chain], { patienceMs: 0 });
	return ok(`answers as chain ${chain.chainId}`);
}

/**
 * Checks that another node is of the same chain. A private chain may have any id, so both nodes must also have the
 * same block. An endpoint that only sends has none.
 */
async function checkOtherNode(
	chain: EvmChain,
	other: EvmChain,
	roles: EvmChainConfig["nodes"][number]["roles"],
): Promise<Found> {
	const actual = await other.client.getChainId();
	if (actual !== chain.chainId) return fail(`is chain ${actual}; remove it, or correct its URL`);
	if (!roles.some((role) => role !== "send")) return ok(`answers as chain ${actual}`);
	const heads = await Promise.all([readBlock(chain, "finalized"), readBlock(other, "finalized")]);
	const number = Math.min(...heads.map((head) => head.number));
	const [ours, its] = await Promise.all([readBlock(chain, number), readBlock(other, number)]);
	return ours.hash === its.hash
		? ok(`answers as chain ${actual}, with the same block ${number}`)
		: fail(`has another block ${number} than the first node, so it is not the same chain`);
}

async function checkContracts({ client, deployment }: EvmChain): Promise<Found | Found[]> {
	const contracts = contractsOf(deployment);
	const codes = await Promise.all(contracts.map(([, address]) => client.getCode({ address })));
	const missing = contracts.filter((_, i) => codes[i] === undefined);
	if (missing.length === 0) return ok(`all ${contracts.length} have code`);
	return missing.map(([name, address]) =>
		fail(`${name} ${address} has no code here; check that the deployment file is this chain's`),
	);
}

function contractsOf(deployment: ChainDeployment) {
	const { contracts, uniswap, wrappedNative, assets, feeDiscountToken, sequencerUptimeFeed } = deployment;
	const { earlierDelegates, earlierEscrows, earlierVaults, permit2, ...current } = contracts;
	const named: [string, Address][] = [
		...Object.entries(current),
		...[...earlierDelegates, ...earlierEscrows, ...earlierVaults].map((one): [string, Address] => [
			"earlier",
			one,
		]),
		...(permit2 ? [["permit2", permit2] as [string, Address]] : []),
		...Object.entries(uniswap),
		["wrappedNative", wrappedNative],
		...assets.flatMap(({ symbol, address, feed }): [string, Address][] => [
			[symbol, address],
			...(feed ? [[`feed of ${symbol}`, feed.address] as [string, Address]] : []),
		]),
		...(sequencerUptimeFeed ? [["sequencerUptimeFeed", sequencerUptimeFeed] as [string, Address]] : []),
		...(feeDiscountToken ? [[feeDiscountToken.symbol, feeDiscountToken.address] as [string, Address]] : []),
	];
	return named.filter(([, address]) => address !== zeroAddress);
}

async function checkFeeds(
	chain: EvmChain,
	config: Pick<Config, "chains" | "price">,
): Promise<Found | Found[]> {
	const forOthers = assetsPricedOn(chain.chainId, config);
	const block = await chain.client.getBlock();
	const { feeds } = await readBlockPrices(chain, {
		block,
		topUsd: config.price.ladderTopUsd,
		feedsForOthers: forOthers.map(({ feed }) => feed.address),
	});
	const atUnixSeconds = Number(block.timestamp);
	const stale = [...chain.deployment.assets, ...forOthers].flatMap(({ symbol, feed }) => {
		if (!feed) return [];
		const { heartbeatSeconds } = feed;
		const answer = feeds.get(feed.address);
		if (isFeedFresh(answer, { heartbeatSeconds, atUnixSeconds })) return [];
		if (!answer || answer.usdE18 === 0n)
			return fail(`the feed of ${symbol} returns no price; check that ${feed.address} is a feed`);
		const age = atUnixSeconds - answer.updatedAtUnixSeconds;
		return warn(
			`the feed of ${symbol} is ${age} s old, above its heartbeat of ${heartbeatSeconds} s; the asset is not offered`,
		);
	});
	return stale.length > 0 ? stale : ok(`all ${feeds.size} are fresh`);
}

async function checkRelayer(
	chain: EvmChain,
	address: Address,
	{ bundleSize, minimumTipWei }: EvmChainConfig,
): Promise<Found | Found[]> {
	const rates = await readFeeRates(chain, { tip: BigInt(minimumTipWei) });
	const { fastLzBytes, brotliBytes } = evmTransactions.open;
	const largest = feeModelOf(chain.deployment).mustHold(rates, {
		gas: maxTransactionGas,
		fastLzBytes: bundleSize * fastLzBytes,
		brotliBytes: bundleSize * brotliBytes,
	});
	return checkSender(chain, address, { role: "OPERATOR", largest });
}

/** Checks an account that sends transactions. `largest` is what its largest transaction needs, if that is known. */
async function checkSender(
	{ client, deployment }: EvmChain,
	address: Address,
	{ role, largest = 0n }: { role: keyof typeof senderRoles; largest?: bigint },
): Promise<Found | Found[]> {
	const [code, balance, [hasRole]] = await Promise.all([
		client.getCode({ address }),
		client.getBalance({ address }),
		client.readContract({
			address: deployment.contracts.accessManager,
			abi: managerAbi,
			functionName: "hasRole",
			args: [senderRoles[role], address],
		}),
	]);
	const problems: Found[] = [];
	if (code) problems.push(fail("has code, which could spend its funds; use an account without code"));
	if (!hasRole) problems.push(fail(`lacks the role ${role} on the vault; grant that role`));
	if (balance === 0n) problems.push(fail("has no funds for gas; send it some"));
	else if (balance < largest) {
		problems.push(
			warn(
				`has ${formatEther(balance)}, and its largest transaction needs ${formatEther(largest)}; send it more`,
			),
		);
	}
	return problems.length > 0 ? problems : ok(`has gas (${formatEther(balance)}), the role, and no code`);
}
