export { solanaSigner } from "./solana-signer.ts";
export type { RemoteSolanaWallet, SolanaWallet } from "./solana-wallet.ts";
export { verifyAndSignSolana } from "./verify-and-sign-solana.ts";
export { type SolanaOpToVerify, verifySolanaOp } from "./verify-solana-op.ts";
