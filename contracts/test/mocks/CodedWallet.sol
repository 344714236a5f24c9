// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Terms} from "../../src/Order.sol";
import {IGeoPayer} from "../../src/interfaces/IGeoPayer.sol";
import {Intruder} from "./Intruder.sol";
import {Token} from "./Token.sol";

/// @dev A wallet with its own code. The first byte of the proof is how it behaves when it is called to pay.
contract CodedWallet is Intruder, IGeoPayer {
    enum Way {
        Honest,
        Nothing,
        TooLittle,
        TooMuch,
        /// Uses up all gas.
        Burn,
        /// Reverts with much data.
        Flood,
        /// Makes the calls that it is armed with, and pays nothing itself.
        Strike,
        /// Makes those calls, then pays.
        StrikeAndPay,
        /// Pays after work that takes much gas.
        Slow,
        /// Pays, and gives the escrow the native token beside it.
        Generous
    }

    uint256 public constant WORK = 800_000;
    uint256 public constant GIFT = 5;

    /// The escrow was given the native token that no order names.
    event Gave(address to, uint256 amount);

    error NotPaid();

    function pay(bytes32, Terms calldata terms, bytes calldata proof) external {
        Way way = Way(uint8(proof[0]));
        uint256 amount = terms.inputAmount;
        if (way == Way.Nothing) return;
        if (way == Way.TooLittle) --amount;
        if (way == Way.TooMuch) ++amount;
        if (way == Way.Burn) {
            while (true) {}
        }
        if (way == Way.Flood) {
            assembly ("memory-safe") {
                revert(0, 100000)
            }
        }
        if (way == Way.Strike) return strike();
        if (way == Way.StrikeAndPay) strike();
        uint256 gas = gasleft();
        while (way == Way.Slow && gasleft() + WORK > gas) {}
        _pay(address(uint160(uint256(terms.inputToken))), amount);
        if (way == Way.Generous) {
            emit Gave(msg.sender, GIFT);
            _pay(address(0), GIFT);
        }
    }

    function _pay(address token, uint256 amount) private {
        bool ok;
        if (token == address(0)) (ok,) = msg.sender.call{value: amount}("");
        else (ok,) = token.call(abi.encodeCall(Token.transfer, (msg.sender, amount)));
        if (!ok) revert NotPaid();
    }
}
