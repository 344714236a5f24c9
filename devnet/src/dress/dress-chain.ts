import { readArtifact } from "@geoswap/contracts";
import {
	type Address,
	encodeDeployData,
	encodeFunctionData,
	type Hex,
	maxUint256,
	parseEther,
	parseUnits,
} from "viem";
import { callMany } from "../call-many.ts";
import { tokenInitCode } from "../contract-code.ts";
import { createPool, enableLowestFee, uniswapInitCode } from "../deploy-uniswap.ts";
import { devTokenAbi, wrappedNativeAbi } from "../dev-contract-abi.ts";
import type { DevnetChain } from "../devnet-chain.ts";
import { deriveDevnetKeys } from "../devnet-keys.ts";
import { feedInitCodeFor } from "../feed-init-code.ts";
import { placePredeploys } from "../place-predeploys.ts";
import { sendAs } from "../send-as.ts";
import { placeContract } from "./place-contract.ts";

type Venue = { factory: Address; router: Address; quoterV2: Address };

/** The contracts that a chain should appear to have, at its real addresses. */
export type Costume = {
	wrappedNative: Address;
	/** The price of the native token. */
	nativeUsd: string;
	tokens: readonly { symbol: string; address: Address; decimals: number; usd: string }[];
	/** The symbol of the token that every pool is against. */
	settlementToken: string;
	/** The first gets pools; the others have none. */
	venues: readonly Venue[];
	feeds: readonly { description: string; address: Address; usd: string }[];
	/** Circle's contracts, as models. */
	cctp?: { domain: number; tokenMessenger: Address; messageTransmitter: Address } | undefined;
	/** Contracts of which only the code matters, such as a model of an oracle of fees. */
	codes: readonly { address: Address; code: Hex }[];
};

const marketEther = parseEther("1000000000");
const marketTokens = "1000000000000";
const poolFee = 500;

/**
 * Makes an empty chain look like a real one, with the devnet's tokens, feeds and Uniswap at the addresses of the real
 * chain. It is a model, because the code at those addresses is not the real chain's.
 */
export async function dressChain(chain: DevnetChain, costume: Costume): Promise<void> {
	const { market } = deriveDevnetKeys().actors;
	const { wrappedNative, tokens, venues, feeds, cctp, codes, nativeUsd } = costume;
	await chain.testClient.setBalance({ address: market, value: marketEther * 2n });
	await placePredeploys(chain, market);
	for (const { address, code } of codes) await chain.testClient.setCode({ address, bytecode: code });

	const place = (address: Address, initCode: Hex) => placeContract(chain, market, { address, initCode });
	await place(
		wrappedNative,
		tokenInitCode({ contract: "WETH9", name: "Wrapped", symbol: "WETH", decimals: 18 }),
	);
	for (const { address, symbol, decimals } of tokens) {
		await place(address, tokenInitCode({ contract: "DevToken", name: symbol, symbol, decimals }));
	}
	for (const { address, description, usd } of feeds) {
		await place(address, feedInitCodeFor({ description, usd }));
	}
	if (cctp) {
		const transmitter = { ...readArtifact("DevTransmitter"), args: [cctp.domain, []] };
		await place(cctp.messageTransmitter, encodeDeployData(transmitter));
		const messenger = { ...readArtifact("DevMessenger"), args: [cctp.messageTransmitter, market] };
		await place(cctp.tokenMessenger, encodeDeployData(messenger));
	}
	const managers: Address[] = [];
	for (const { factory, router, quoterV2 } of venues) {
		await place(factory, uniswapInitCode.factory());
		await enableLowestFee(chain, market, factory);
		// No preset contains the position manager, so any address serves.
		const manager: Address = `0x${(BigInt(factory) ^ 1n).toString(16).padStart(40, "0")}`;
		managers.push(manager);
		await place(manager, uniswapInitCode.positionManager(factory, wrappedNative));
		await place(router, uniswapInitCode.router(factory, manager, wrappedNative));
		await place(quoterV2, uniswapInitCode.quoterV2(factory, wrappedNative));
	}

	const [manager] = managers;
	if (!manager) return;
	await sendAs(chain, market, {
		to: wrappedNative,
		data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: "deposit" }),
		value: marketEther,
	});
	await callMany(
		chain,
		market,
		tokens.map(({ address, decimals }) => ({
			to: address,
			data: encodeFunctionData({
				abi: devTokenAbi,
				functionName: "mint",
				args: [market, parseUnits(marketTokens, decimals)],
			}),
		})),
	);
	for (const to of [wrappedNative, ...tokens.map(({ address }) => address)]) {
		const approval = { abi: devTokenAbi, functionName: "approve", args: [manager, maxUint256] } as const;
		await sendAs(chain, market, { to, data: encodeFunctionData(approval) });
	}
	const settlement = tokens.find(({ symbol }) => symbol === costume.settlementToken);
	if (!settlement) throw new Error(`there is no token ${costume.settlementToken}`);
	const native = { address: wrappedNative, decimals: 18, usd: nativeUsd };
	for (const token of [native, ...tokens.filter((one) => one !== settlement)]) {
		await createPool(chain, market, manager, {
			tokens: [token, settlement],
			fee: poolFee,
			tickSpacing: 10,
			positions: [{ usdPerSide: "50000000", widthTicks: "full" }],
		});
	}
}
