"""
The boundary as the budget grows
================================

bla
"""
from house_style import rows
import matplotlib.pyplot as plt
plt.plot([1,2])
