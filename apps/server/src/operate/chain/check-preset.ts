import {
	checkCctp,
	checkSequencerFeed,
	checkToken,
	checkUniswap,
	deterministicDeployer,
	readFeed,
} from "@geoswap/contracts";
import {
	type Address,
	type Client,
	domainSeparator,
	type Hex,
	isAddressEqual,
	keccak256,
	parseAbi,
	toFunctionSelector,
	zeroAddress,
} from "viem";
import { getChainId, getCode, readContract, simulateContract } from "viem/actions";
import { multicall3Address } from "../../chain/evm/connect-chain.ts";
import { check, type Finding, type Found, fail, ok, warn } from "../check/finding.ts";
import { codeHashes, hashWithoutAddresses, uniswapCodeHashes } from "./known-code.ts";
import type { EvmPreset } from "./preset-schema.ts";

const permit2Address: Address = "0x000000000022D473030F116dDEE9F6B43aC78BA3";

const multicallAbi = parseAbi(["function getChainId() view returns (uint256)"]);
const permit2Abi = parseAbi(["function DOMAIN_SEPARATOR() view returns (bytes32)"]);
const factoryAbi = parseAbi(["function feeAmountTickSpacing(uint24 fee) view returns (int24)"]);

/** QuoterV2's call takes a struct and returns four values. The calls of Quoter V1 and of Slipstream differ. */
const quoterV2Selector = toFunctionSelector(
	"function quoteExactInputSingle((address tokenIn, address tokenOut, uint256 amountIn, uint24 fee, uint160 sqrtPriceLimitX96))",
);
/** SwapRouter02's call has no deadline. That of the first SwapRouter has one. */
const exactInputSelector = toFunctionSelector(
	"function exactInput((bytes path, address recipient, uint256 amountIn, uint256 amountOutMinimum))",
);

/** Concurrent checks. More would hit the rate limits of public endpoints. */
const checksAtOnce = 6;

type Part = { part: string; address: Address; ask: () => Promise<Found | Found[]> };

/**
 * Checks every address of the preset on the chain. Each contract must be what the preset states. Nothing of a preset
 * is used if a finding failed.
 */
export async function checkPreset(client: Client, preset: EvmPreset): Promise<Finding[]> {
	const chain = await check("chainId", async () => {
		const actual = await getChainId(client);
		return actual === preset.chainId ? ok(`${actual}`) : fail(`the endpoint is chain ${actual}`);
	});
	if (chain.some(({ result }) => result === "fail")) return chain;
	const parts = [
		...infrastructureParts(client, preset),
		...tokenParts(client, preset),
		...venueParts(client, preset),
		...feedParts(client, preset),
		...feeContractParts(client, preset),
		...cctpParts(client, preset),
	];
	const findings = [...chain];
	for (let i = 0; i < parts.length; i += checksAtOnce) {
		const found = await Promise.all(
			parts.slice(i, i + checksAtOnce).map(({ part, address, ask }) => {
				const refused = preset.refused.find((one) => isAddressEqual(one.address, address));
				return check(part, async () => (refused ? fail(`${address}: ${refused.because}`) : ask()));
			}),
		);
		findings.push(...found.flat());
	}
	return findings;
}

function infrastructureParts(client: Client, { infrastructure, chainId }: EvmPreset): Part[] {
	const { multicall3, deterministicDeployer: deployer, permit2 } = infrastructure;
	return [
		{
			part: "infrastructure.deterministicDeployer",
			address: deployer.value,
			ask: () => checkKnownCode(client, deployer.value, deterministicDeployer),
		},
		{
			part: "infrastructure.multicall3",
			address: multicall3.value,
			ask: async () => {
				if (multicall3.value !== multicall3Address) return notOurs(multicall3Address);
				const address = multicall3.value;
				const id = await readContract(client, { address, abi: multicallAbi, functionName: "getChainId" });
				return id === BigInt(chainId) ? ok("answers") : fail(`${address} returns chain ${id}`);
			},
		},
		{
			part: "infrastructure.permit2",
			address: permit2.value,
			ask: async () => {
				if (permit2.value !== permit2Address) return notOurs(permit2Address);
				const address = permit2.value;
				const actual = await readContract(client, {
					address,
					abi: permit2Abi,
					functionName: "DOMAIN_SEPARATOR",
				});
				const domain = { name: "Permit2", chainId, verifyingContract: address };
				return actual === domainSeparator({ domain })
					? ok("has the domain separator of this chain")
					: fail(`${address} has another domain separator than Permit2 has on this chain`);
			},
		},
	];
}

function notOurs(address: Address): Found {
	return fail(`the service uses ${address}, which is the same on every chain`);
}

async function checkKnownCode(client: Client, address: Address, expected: Address): Promise<Found> {
	if (address !== expected) return notOurs(expected);
	const code = await getCode(client, { address });
	if (!code) return fail(`there is no contract at ${address}`);
	const known = codeHashes[address];
	if (known === undefined) return fail(`${address} is not a contract whose code is known here`);
	return keccak256(code) === known
		? ok(`has the code with the hash ${known.slice(0, 10)}…`)
		: fail(`${address} has other code than on other chains`);
}

function tokenParts(client: Client, { tokens, wrappedNative }: EvmPreset): Part[] {
	return [
		...tokens.map(
			({ symbol, address, decimals }): Part => ({
				part: `tokens.${symbol}`,
				address: address.value,
				ask: async () => {
					await checkToken(client, { symbol, address: address.value, decimals });
					return ok(`is ${symbol} with ${decimals} decimals`);
				},
			}),
		),
		{
			part: "wrappedNative",
			address: wrappedNative.value,
			ask: async () => {
				const address = wrappedNative.value;
				const decimals = await readContract(client, {
					address,
					abi: parseAbi(["function decimals() view returns (uint8)"]),
					functionName: "decimals",
				});
				return decimals === 18
					? ok("has 18 decimals")
					: fail(`${address} has ${decimals} decimals, the native token has 18`);
			},
		},
	];
}

function venueParts(client: Client, { venues, wrappedNative }: EvmPreset): Part[] {
	return Object.entries(venues).flatMap(([name, venue]): Part[] => {
		const uniswap = {
			factory: venue.factory.value,
			router: venue.router.value,
			quoterV2: venue.quoterV2.value,
		};
		const expectPackage = (contract: keyof typeof uniswap, code: Hex): Found[] => {
			if (name !== "uniswap-v3") return [];
			const { package: origin, hash } = uniswapCodeHashes[contract];
			return hashWithoutAddresses(code) === hash
				? [ok(`has the code of ${origin}`)]
				: [
						warn(
							`has different code than ${origin}, which is another build, or another contract with the same calls`,
						),
					];
		};
		const expectSelector = async (contract: "router" | "quoterV2", selector: Hex, what: string) => {
			const code = await getCode(client, { address: uniswap[contract] });
			if (!code) return fail(`there is no contract at ${uniswap[contract]}`);
			if (!code.includes(selector.slice(2))) return fail(`${uniswap[contract]} is not ${what}`);
			return expectPackage(contract, code);
		};
		return [
			{
				part: `venues.${name}.factory`,
				address: uniswap.factory,
				ask: async () => {
					const address = uniswap.factory;
					const code = await getCode(client, { address });
					if (!code) return fail(`there is no contract at ${address}`);
					const spacing = await readContract(client, {
						address,
						abi: factoryAbi,
						functionName: "feeAmountTickSpacing",
						args: [500],
					});
					return spacing > 0
						? [ok("has the fee tier 500"), ...expectPackage("factory", code)]
						: fail(`${address} does not have the fee tier 500`);
				},
			},
			{
				part: `venues.${name}.quoterV2`,
				address: uniswap.quoterV2,
				ask: () =>
					expectSelector("quoterV2", quoterV2Selector, "a QuoterV2: it lacks its quoteExactInputSingle"),
			},
			{
				part: `venues.${name}.router`,
				address: uniswap.router,
				ask: async () => {
					const found = await expectSelector(
						"router",
						exactInputSelector,
						"a SwapRouter02: it lacks its exactInput without a deadline",
					);
					if (!Array.isArray(found)) return found;
					await checkUniswap(client, { uniswap, wrappedNative: wrappedNative.value });
					return [ok("router, quoter, factory and wrapped native token belong together"), ...found];
				},
			},
		];
	});
}

function feedParts(client: Client, { feeds, sequencerUptimeFeed }: EvmPreset): Part[] {
	const parts = feeds.map(
		(feed): Part => ({
			part: `feeds.${feed.pair}`,
			address: feed.address.value,
			ask: () => checkFeed(client, feed),
		}),
	);
	if (!sequencerUptimeFeed) return parts;
	const address = sequencerUptimeFeed.value;
	const uptime: Part = {
		part: "sequencerUptimeFeed",
		address,
		ask: async () => {
			await checkSequencerFeed(client, { sequencerUptimeFeed: address });
			return ok("answers 0 or 1");
		},
	};
	return [...parts, uptime];
}

function feeContractParts(client: Client, { fees }: EvmPreset): Part[] {
	return Object.entries(fees.contracts).map(([name, { value: address }]) => ({
		part: `fees.contracts.${name}`,
		address,
		ask: () => checkFeeContract(client, { name: name as FeeContractName, address }),
	}));
}

/** Both addresses are checked together, because each contract names the other, or the chain's domain. */
function cctpParts(client: Client, { cctp }: EvmPreset): Part[] {
	if (!cctp) return [];
	const { domain, tokenMessenger, messageTransmitter } = cctp;
	const named = {
		domain: domain.value,
		tokenMessenger: tokenMessenger.value,
		messageTransmitter: messageTransmitter.value,
	};
	return [
		{
			part: "cctp",
			address: tokenMessenger.value,
			ask: async () => {
				await checkCctp(client, { cctp: { ...named, routes: {} } });
				return ok(`belong together and have the domain ${domain.value}`);
			},
		},
	];
}

type FeeContractName = keyof EvmPreset["fees"]["contracts"];

const feeContractAbi = parseAbi([
	"function l1BaseFee() view returns (uint256)",
	"function basefee() view returns (uint256)",
	"function getPricesInWei() view returns (uint256 perL2Tx, uint256 perL1CalldataByte, uint256 perStorage, uint256 perArbGasBase, uint256 perArbGasCongestion, uint256 perArbGasTotal)",
	"function gasEstimateL1Component(address to, bool contractCreation, bytes data) payable returns (uint64 gasForL1, uint256 baseFee, uint256 l1BaseFeeEstimate)",
]);

/** Throws unless the contract answers the call that a fee model makes, or one that only this contract has. */
async function checkFeeContract(
	client: Client,
	{ name, address }: { name: FeeContractName; address: Address },
): Promise<Found> {
	switch (name) {
		case "gasPriceOracle":
			await readContract(client, { address, abi: feeContractAbi, functionName: "l1BaseFee" });
			return ok("answers l1BaseFee");
		case "l1Block":
			await readContract(client, { address, abi: feeContractAbi, functionName: "basefee" });
			return ok("answers basefee");
		case "arbGasInfo":
			await readContract(client, { address, abi: feeContractAbi, functionName: "getPricesInWei" });
			return ok("answers getPricesInWei");
		case "nodeInterface":
			// This contract exists in calls only, and has no code to read.
			await simulateContract(client, {
				address,
				abi: feeContractAbi,
				functionName: "gasEstimateL1Component",
				args: [zeroAddress, false, "0x"],
			});
			return ok("answers gasEstimateL1Component");
	}
}

const proxyAbi = parseAbi([
	"function aggregator() view returns (address)",
	"function minAnswer() view returns (int192)",
	"function maxAnswer() view returns (int192)",
]);

/**
 * The minimum factor between the price and a feed's bounds, because a feed stops at a bound when the price moves
 * beyond it.
 */
const boundFactor = 2n;

/** Fails unless the feed's description and decimals are those of the preset, and it can follow the price. */
async function checkFeed(
	client: Client,
	{ pair, descriptions, decimals, address: { value: address } }: EvmPreset["feeds"][number],
): Promise<Found> {
	const feed = await readFeed(client, { symbol: pair, address });
	if (!descriptions.includes(feed.description)) {
		return fail(
			`the feed at ${address} is "${feed.description}", but the preset has ${descriptions.join(" or ")}`,
		);
	}
	if (feed.decimals !== decimals) {
		return fail(`the feed at ${address} has ${feed.decimals} decimals, but the preset has ${decimals}`);
	}
	const bounds = await readBounds(client, address);
	if (bounds && (bounds.maximum < feed.answer * boundFactor || bounds.minimum * boundFactor > feed.answer)) {
		return fail(
			`the feed at ${address} is bounded; it returns ${feed.answer}, and never less than ${bounds.minimum} or more than ${bounds.maximum}`,
		);
	}
	return ok(`is "${feed.description}" with ${decimals} decimals`);
}

/** Returns the bounds of the aggregator behind the proxy, or undefined if it reports none. */
async function readBounds(
	client: Client,
	proxy: Address,
): Promise<{ minimum: bigint; maximum: bigint } | undefined> {
	try {
		const address = await readContract(client, {
			address: proxy,
			abi: proxyAbi,
			functionName: "aggregator",
		});
		const [minimum, maximum] = await Promise.all([
			readContract(client, { address, abi: proxyAbi, functionName: "minAnswer" }),
			readContract(client, { address, abi: proxyAbi, functionName: "maxAnswer" }),
		]);
		return { minimum, maximum };
	} catch {
		// A feed of another kind has no such functions.
		return undefined;
	}
}
