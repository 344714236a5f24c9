import { deployContracts, parseDeployConfig } from "@geoswap/contracts";
import type { ChainDeployment } from "@geoswap/protocol";
import {
	type Address,
	encodeFunctionData,
	type Hex,
	http,
	maxUint256,
	numberToHex,
	parseEther,
	parseUnits,
	zeroAddress,
} from "viem";
import { privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { allowMoves } from "./allow-moves.ts";
import { callMany } from "./call-many.ts";
import { tokenInitCode } from "./contract-code.ts";
import { deployCode } from "./deploy-code.ts";
import { createPools, deployUniswap } from "./deploy-uniswap.ts";
import { devTokenAbi, wrappedNativeAbi } from "./dev-contract-abi.ts";
import type { DevnetChain } from "./devnet-chain.ts";
import { deriveDevnetKeys } from "./devnet-keys.ts";
import {
	type DevnetToken,
	deviationBps,
	devnetFeeDiscountToken,
	devnetNative,
	devnetTokens,
	settlementSymbol,
	wrappedNativeSymbol,
} from "./devnet-tokens.ts";
import { feedInitCode } from "./feed-init-code.ts";
import { placePredeploys } from "./place-predeploys.ts";
import { sendAs } from "./send-as.ts";
import { hasSolFeed, solFeedInitCode } from "./solana-feeds.ts";

/** The market maker's ether, which is practically endless. */
const marketEther = parseEther("1000000000");
const relayerEther = parseEther("100");

/** Whole tokens for the market, more than the pools and the wallets get. */
const marketTokens = "1000000000000";

/**
 * Sets up an empty chain for swaps with assets, pools, feeds, the service's contracts, inventory and wallets. Needs a
 * chain that mines each transaction immediately.
 */
export async function setUpChain(
	chain: DevnetChain,
	onProgress: (line: string) => void = () => {},
): Promise<ChainDeployment> {
	const { testClient } = chain;
	const { actors, ...keys } = deriveDevnetKeys();
	const { market, feedKeeper } = actors;
	const addressOfKey = (key: Hex) => privateKeyToAddress(key);
	const relayers = keys.relayers.map(addressOfKey);
	const wallets = keys.wallets.map(addressOfKey);
	const deployer = privateKeyToAccount(keys.deployer);

	await Promise.all([
		testClient.setBalance({ address: market, value: marketEther * 2n }),
		...[
			deployer.address,
			feedKeeper,
			addressOfKey(keys.guardian),
			addressOfKey(keys.treasury),
			addressOfKey(keys.treasurer),
			...relayers,
		].map((address) => testClient.setBalance({ address, value: relayerEther })),
	]);
	const { permit2 } = await placePredeploys(chain, market);
	onProgress("deployed Permit2 and Multicall3");

	const tokens = new Map<string, Address>();
	const feeds = new Map<string, Address>();
	for (const token of devnetTokens) {
		tokens.set(token.symbol, await deployCode(chain, market, tokenInitCode(token), assetSalt(chain)));
		feeds.set(token.symbol, await deployCode(chain, market, tokenFeedInitCode(token), assetSalt(chain)));
	}
	if (hasSolFeed(chain)) await deployCode(chain, market, solFeedInitCode());
	const feeDiscountToken = await deployCode(
		chain,
		market,
		tokenInitCode({ ...devnetFeeDiscountToken, contract: "DevToken" }),
		assetSalt(chain),
	);
	const tokenAddress = (symbol: string) => known(tokens, symbol);
	const wrappedNative = tokenAddress(wrappedNativeSymbol);
	onProgress(`deployed ${devnetTokens.length + 1} tokens and their feeds`);

	const uniswap = await deployUniswap(chain, market, wrappedNative);
	await sendAs(chain, market, {
		to: wrappedNative,
		data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: "deposit" }),
		value: marketEther,
	});
	const minted = devnetTokens.filter((token) => token.contract !== "WETH9");
	await callMany(
		chain,
		market,
		minted.map((token) => mint(tokenAddress(token.symbol), market, parseUnits(marketTokens, token.decimals))),
	);
	for (const token of devnetTokens) {
		for (const spender of [uniswap.positionManager, uniswap.router]) {
			await sendAs(chain, market, {
				to: tokenAddress(token.symbol),
				data: encodeFunctionData({ abi: devTokenAbi, functionName: "approve", args: [spender, maxUint256] }),
			});
		}
	}
	await createPools(chain, market, uniswap.positionManager, tokenAddress);
	onProgress("deployed Uniswap and filled its pools");

	const wrapped = devnetTokens.find((token) => token.symbol === wrappedNativeSymbol);
	if (!wrapped) throw new Error("the devnet has no wrapped native token");
	const assets = [{ ...wrapped, symbol: devnetNative.symbol, address: zeroAddress }, ...devnetTokens].map(
		(token) => ({
			symbol: token.symbol,
			address: "address" in token ? token.address : tokenAddress(token.symbol),
			decimals: token.decimals,
			kind: token.kind,
			feed: {
				address: known(feeds, token.symbol === devnetNative.symbol ? wrappedNativeSymbol : token.symbol),
				heartbeatSeconds: token.heartbeatSeconds,
				deviationBps: deviationBps[token.kind],
			},
			paths: token.paths,
		}),
	);
	const deployment = await deployContracts({
		transport: http(chain.rpcUrl),
		account: deployer,
		pollingIntervalMs: 5,
		config: parseDeployConfig({
			chainId: chain.chainId,
			name: chain.chain.name,
			kind: "eip1559",
			uniswap: { factory: uniswap.factory, router: uniswap.router, quoterV2: uniswap.quoterV2 },
			wrappedNative,
			settlementToken: tokenAddress(settlementSymbol),
			permit2,
			assets,
			feeDiscountToken: {
				symbol: devnetFeeDiscountToken.symbol,
				address: feeDiscountToken,
				decimals: devnetFeeDiscountToken.decimals,
			},
			attesterSet: { threshold: 2, attesters: keys.attesters.map(addressOfKey) },
			roles: {
				admin: deployer.address,
				operators: relayers,
				guardians: [addressOfKey(keys.guardian)],
				treasuries: [addressOfKey(keys.treasury)],
				treasurers: [addressOfKey(keys.treasurer)],
				configurers: [deployer.address],
				resumers: [deployer.address],
			},
			delays: { treasurySeconds: 0, configSeconds: 0, adminSeconds: 0 },
			outflowCaps: Object.fromEntries([
				[devnetNative.symbol, String(parseEther(devnetNative.outflowPerHour))],
				...devnetTokens.map((token) => [
					token.symbol,
					String(parseUnits(token.outflowPerHour, token.decimals)),
				]),
			]),
		}),
	});
	await allowMoves({ ...chain, deployment });
	onProgress("deployed Geoswap's contracts");

	const { vault } = deployment.contracts;
	await callMany(chain, market, [
		...minted.flatMap((token) => [
			mint(tokenAddress(token.symbol), vault, parseUnits(token.inventory, token.decimals)),
			...wallets.map((wallet) =>
				mint(tokenAddress(token.symbol), wallet, parseUnits(token.perWallet, token.decimals)),
			),
		]),
		...wallets.flatMap((wallet, i) => {
			const amount = devnetFeeDiscountToken.perWallet[i] ?? "0";
			return amount === "0" ? [] : [mint(feeDiscountToken, wallet, parseEther(amount))];
		}),
	]);
	await sendAs(chain, market, { to: vault, value: parseEther(devnetNative.inventory) });
	for (const [holder, amount] of [
		[vault, wrapped.inventory] as const,
		...wallets.map((wallet) => [wallet, wrapped.perWallet] as const),
	]) {
		await sendAs(chain, market, {
			to: wrappedNative,
			data: encodeFunctionData({
				abi: devTokenAbi,
				functionName: "transfer",
				args: [holder, parseEther(amount)],
			}),
		});
	}
	onProgress("funded the vault and the wallets");
	return deployment;
}

function mint(token: Address, to: Address, amount: bigint): { to: Address; data: Hex } {
	return {
		to: token,
		data: encodeFunctionData({ abi: devTokenAbi, functionName: "mint", args: [to, amount] }),
	};
}

/** Returns a salt that differs per chain, so that using one chain's address on the other fails immediately. */
function assetSalt({ chainId }: DevnetChain): Hex {
	return numberToHex(chainId, { size: 32 });
}

function tokenFeedInitCode({ symbol, usd }: DevnetToken): Hex {
	return feedInitCode({ name: symbol === wrappedNativeSymbol ? "ETH" : symbol, usd });
}

function known(addresses: Map<string, Address>, symbol: string): Address {
	const address = addresses.get(symbol);
	if (!address) throw new Error(`the devnet has no ${symbol}`);
	return address;
}
