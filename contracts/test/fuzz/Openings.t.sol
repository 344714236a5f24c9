// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Order, Terms} from "../../src/Order.sol";
import {IGeoAccount} from "../../src/interfaces/IGeoAccount.sol";
import {EscrowState} from "../../src/interfaces/IGeoEscrow.sol";
import {termsOf, typedHash, word} from "../base/orders.sol";
import {vm} from "../base/Vm.sol";
import {Wallets} from "../base/Wallets.sol";

contract OpeningsFuzzTest is Wallets {
    uint256 private constant N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;

    function testFuzz_anyOrderOpensOnItsOwnersSignature(
        uint128 amount,
        uint256 destinationChainId,
        bytes32[5] memory words,
        uint256 topUp,
        bool isPersonal
    ) public {
        vm.assume(amount != 0);
        Order memory order = _order();
        (order.inputAmount, order.destinationChainId, order.topUp) = (amount, destinationChainId, topUp);
        (order.outputToken, order.recipient, order.destinationVault) = (words[0], words[1], words[2]);
        (order.attesterSet, order.swapKey) = (words[3], words[4]);
        plain.mint(wallet, amount);
        bytes32 id = _openFor(order, _proof(isPersonal ? PERSONAL : TYPED, KEY, order));
        vm.assertEq(id, typedHash(order), "id");
        vm.assertEq(plain.balanceOf(address(escrow)), amount, "held");
    }

    function testFuzz_anyOtherTermOpensNothing(uint8 field, uint8 bit, bool isPersonal) public {
        Order memory order = _order();
        bytes memory proof = _proof(isPersonal ? PERSONAL : TYPED, KEY, order);
        Terms memory terms = termsOf(order);
        uint256 flip = uint256(1) << bit;
        assembly ("memory-safe") {
            let slot := add(terms, mul(mod(field, 12), 0x20))
            mstore(slot, xor(mload(slot), flip))
        }
        vm.expectRevert();
        escrow.openFor(wallet, terms, proof);

        // The escrow refuses some of these by itself. The wallet refuses all of them.
        bytes32 id = _withTerms(order, terms).orderId();
        vm.expectPartialRevert(IGeoAccount.WrongSigner.selector);
        vm.prank(address(escrow));
        _mine().pay(id, terms, proof);
        vm.assertEq(plain.balanceOf(address(escrow)), 0, "taken");
    }

    function testFuzz_anotherTokenOfTheWalletsIsNotTaken(uint8 token, bool isPersonal) public {
        bytes32[5] memory tokens =
            [bytes32(0), word(address(other)), word(address(noReturn)), word(address(fee)), word(address(blocking))];
        Order memory order = _order();
        bytes memory proof = _proof(isPersonal ? PERSONAL : TYPED, KEY, order);
        order.inputToken = tokens[token % 5];
        vm.expectPartialRevert(IGeoAccount.WrongSigner.selector);
        escrow.openFor(wallet, termsOf(order), proof);
    }

    function testFuzz_anyOtherKeyOpensNothing(uint256 key, bool isPersonal) public {
        key = key % (N - 1) + 1;
        vm.assume(key != KEY);
        Order memory order = _order();
        bytes memory proof = _proof(isPersonal ? PERSONAL : TYPED, key, order);
        _openForReverts(order, proof, abi.encodeWithSelector(IGeoAccount.WrongSigner.selector, vm.addr(key)));
    }

    function testFuzz_anyOtherBitOfAProofOpensNothing(uint256 place, uint8 bit, bool isPersonal, bool isTypedOnly)
        public
    {
        if (isTypedOnly) _delegate(wallet, typedOnly);
        Order memory order = _order();
        bytes memory proof = _proof(isPersonal ? PERSONAL : TYPED, KEY, order);
        proof[place % proof.length] ^= bytes1(uint8(1 << (bit % 8)));
        vm.expectRevert();
        escrow.openFor(wallet, termsOf(order), proof);
        _isState(order, EscrowState.None);
    }

    function testFuzz_anyBytesOpenNothing(bytes memory proof, bool isTypedOnly) public {
        if (isTypedOnly) _delegate(wallet, typedOnly);
        vm.expectRevert();
        escrow.openFor(wallet, termsOf(_order()), proof);
        _isState(_order(), EscrowState.None);
    }

    function testFuzz_theDigestIsTypedDataInTheEscrowsDomain(bytes32 structHash, uint64 chainId) public {
        vm.assume(chainId != 0);
        vm.chainId(chainId);
        vm.assertEq(escrow.typedDigest(structHash), _typedDigest(address(escrow), structHash), "digest");
    }

    function _withTerms(Order memory order, Terms memory terms) private pure returns (Order memory changed) {
        changed = Order({
            wallet: order.wallet,
            inputToken: terms.inputToken,
            inputAmount: terms.inputAmount,
            originChainId: order.originChainId,
            destinationChainId: terms.destinationChainId,
            outputToken: terms.outputToken,
            minOutput: terms.minOutput,
            recipient: terms.recipient,
            topUp: terms.topUp,
            escrow: order.escrow,
            originVault: terms.originVault,
            destinationVault: terms.destinationVault,
            attesterSet: terms.attesterSet,
            swapKey: terms.swapKey,
            deadlines: terms.deadlines
        });
    }
}
