import { parseAbi } from "viem";

/** The token functions that the tests and the simulated wallets call. */
export const tokenAbi = parseAbi([
	"function balanceOf(address) view returns (uint256)",
	"function allowance(address, address) view returns (uint256)",
	"function approve(address, uint256) returns (bool)",
	"function transfer(address, uint256) returns (bool)",
	"function transferFrom(address, address, uint256) returns (bool)",
	"function mint(address, uint256)",
	"function deposit() payable",
	"function withdraw(uint256)",
]);
