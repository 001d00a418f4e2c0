aplingest --version
apldata --version
